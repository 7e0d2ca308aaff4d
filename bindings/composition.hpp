// Graphs put together piece by piece: what a Python expression is before it is evaluated.
// A piece is a node that owns its operands and, for an input, the captured tensor. A piece used twice is one node of the graph;
// inputs of several calls with the same elements become one input. Composing gives the same graph as the same text would.
//   PiecePtr p = apply("add", {input("x", x), input("y", y)});   Composition c = compose({{"", p, {}}});
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/tensor.hpp"
#include "ir/graph.hpp"

namespace erx {

struct Piece;
using PiecePtr = std::shared_ptr<const Piece>;

/// What the spec that a piece is a result of requires of its inputs.
struct PieceAssumption {
  PiecePtr piece;
  std::string text;
  Span span;
};

struct TracedLoop;  // bindings/traced_loop.hpp

struct Piece {
  Node node;  // its operand ids mean nothing here
  std::vector<PiecePtr> operands;
  std::optional<Tensor> tensor;  // of an input
  std::shared_ptr<const int> call;  // of a spec that it came from: its inputs stay apart, its labelled choices are its own
  std::vector<PieceAssumption> assumptions;  // they go where the result goes
  std::uint64_t age = 0;  // a piece that was made later has a larger one
  std::shared_ptr<const TracedLoop> loop;  // of a fold that was traced: its body becomes a graph when the piece is composed
  bool innocuous = false;  // a `within` whose slack the rounding after it absorbs: left out unless a compute format is asked for

  Piece() = default;
  Piece(const Piece&) = delete;
  ~Piece();  // long chains are taken apart without recursion
};

/// A captured tensor under a name. `scales`: an exact scalar that makes a product absent where it is 0.
PiecePtr input(std::string name, Tensor tensor, bool scales = false, std::shared_ptr<const int> call = nullptr);

/// A piece of a node. A node without operands and tensor that is an `input` is a state of a loop that is being traced. `age`: one that was
/// taken before; 0: the next.
std::shared_ptr<Piece> make_piece(Node node, std::vector<PiecePtr> operands, std::uint64_t age = 0);

/// The first of `count` ages, for pieces that are made later and count as made now.
std::uint64_t take_ages(std::uint64_t count);

/// One op on pieces. errors: Error with the rule of types or shapes that the operands break.
PiecePtr apply(std::string_view op, std::vector<PiecePtr> operands, Attributes attributes = {});

/// `within<format>` around one exact operation or a sum. `innocuous` as above.
PiecePtr apply_within(PiecePtr operation, const Format& format, bool innocuous);

/// The same value as one stored tensor: `acc` and `within` around it do not look inside.
PiecePtr opaque(PiecePtr);

struct PieceResult {
  std::string name;
  PiecePtr piece;
  std::optional<Type> declared;
  std::vector<PieceAssumption> assumptions = {};  // of a result that is an input as it is: that piece has none
};

struct Composition {
  std::shared_ptr<const Graph> graph;
  std::vector<Tensor> inputs;  // in the order of graph->inputs
  std::vector<const Piece*> pieces;  // of the inputs; the results own them
};

/// `compute`: the format of every `within` instead of its own.
/// errors: Error if `compute` is given and there is no `within`.
Composition compose(const std::vector<PieceResult>& results, const std::string& name = "",
                    const std::optional<Format>& compute = {});

/// The results of a lowered graph as pieces; `inputs` in the order of graph.inputs. `age`: the first of two for each node, or 0.
std::vector<PieceResult> pieces_of(const Graph& graph, const std::vector<PiecePtr>& inputs, std::uint64_t age = 0);

}  // namespace erx
