// A graph as canonical `.erx` text, as a readable list of nodes, and as DOT.
// parse(to_erx(g)) is g again. Named nodes become `let`s; nodes with freedom used twice become `let`s too (t1, t2 ...).
#pragma once
#include <string>

#include "ir/graph.hpp"

namespace erx {

std::string to_erx(const Graph&);                      // a bare expression, or a whole spec
std::string expression_text(const Graph&, NodeId id);  // one node as an expression; named nodes by their names
std::string to_list(const Graph&);                     // one node per line: id, op, operands, type, shape
std::string to_dot(const Graph&);

}  // namespace erx
