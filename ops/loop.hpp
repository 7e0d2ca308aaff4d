// Nodes of a loop (ir/loop.hpp): the fold, and those that read its states.
//   NodeId fold = build_fold(g, loop, {start, outside}, span);   NodeId second = build_state(g, fold, 1, span);
#pragma once
#include <memory>
#include <vector>

#include "ir/loop.hpp"
#include "ops/op.hpp"

namespace erx {

/// `operands`: one for each input of the body. The node has a choice of its own where the body has one.
NodeId build_fold(Graph&, std::shared_ptr<const Loop>, std::vector<NodeId> operands, const Span&);
/// State k after the last step: for k = 0 the fold itself.
NodeId build_state(Graph&, NodeId fold, std::size_t k, const Span&);

}  // namespace erx
