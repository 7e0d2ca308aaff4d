// er.fold: a loop whose step a Python function wrote down once, in pieces.
// What the function made is the body; what it read is read from outside; a step that has other shapes (a short last tile) is the same
// pieces once more.
//   std::vector<PiecePtr> after = fold({start}, {state}, {next}, {"i#7", "i", 0, 10});
#pragma once
#include <string>
#include <vector>

#include "bindings/composition.hpp"

namespace erx {

struct TracedLoop {
  std::vector<PiecePtr> states;  // inputs without tensors, by the names of the states
  std::vector<PiecePtr> outside; // what the body reads: of the fold's operands those behind the start values
  std::vector<PiecePtr> body;    // in the order in which they were made
  std::vector<PiecePtr> next;
  std::string variable;          // in Attributes::moving: no other loop has it
  std::string name;              // as it is written
  std::int64_t first = 0, count = 0;
};

/// The steps of a range, or of tiles: then the first one is 0.
struct LoopRange {
  std::string variable, name;
  std::int64_t first = 0, count = 0;  // whole tiles
  std::int64_t tile = 0, rest = 0;    // the lengths of a tile and of the short one behind the last; 0: none
};

/// Do roundings of these follow the types of what they read (`within`, which functions of er write)?
bool depends_on_types(const std::vector<PiecePtr>&);

/// A state before the first step, for the function that is traced.
PiecePtr state_piece(const std::string& name, const PiecePtr& start);

/// The states after the last step.
/// errors: Error where a state has another type or shape after a step than before it.
std::vector<PiecePtr> fold(const std::vector<PiecePtr>& starts, const std::vector<PiecePtr>& states, const std::vector<PiecePtr>& next, const LoopRange&);

}  // namespace erx
