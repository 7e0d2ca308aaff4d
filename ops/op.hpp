// An op is one row: its name, what it says, its types and shapes, how an element gathers its operands, one formula for every
// number type. Every table of the program is a loop over all_ops(). Adding an op touches one file: write its formula and row in
// the file of its family (ops/elementwise.cpp, ops/reduce.cpp, ops/layout.cpp, ops/linalg.cpp, ops/rounding_ops.cpp).
//   const Op* op = find_op("exp");   op->map.f64(operands, attributes, context)
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"
#include "ops/num/big.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"
#include "ops/num/set.hpp"
#include "ops/tile.hpp"

namespace erx {

/// How an element of the result depends on elements of the operands.
enum class Gather {
  source,      // input, literal: no operand
  map,         // on the element of each operand at the same (broadcast) index
  view,        // is one element of the operand, at another index
  reduce,      // on all elements along `axes`, combined two at a time in exact arithmetic (max, min, any, all), or at once (argmax)
  sum,         // is an exact sum of elements or of products of two (sum, matmul): ops/terms.hpp lists its terms
  accumulate,  // is the sum written in its operand, rounded in some order (acc, within)
  recurrence,  // is a state of a linear recurrence along one axis, rounded in some order (scan): ops/scan.hpp
  loop,        // is a state of a bounded loop (fold): ir/loop.hpp
  join,        // is one element of one operand: they lie one after the other along `axes` (concat)
  composed,    // never a node: its call is written out in other rows (mean, stack)
  pair,        // has the element of each operand as its real and its imaginary part (complex): ops/complex.hpp
};

/// One formula, instantiated for every number type.
template <class R>
using MapFormula = Set<R> (*)(std::span<const Set<R>> operands, const Attributes&, Context);

struct Formulas {
  MapFormula<F64> f64 = nullptr;
  MapFormula<Big> big = nullptr;
  MapFormula<Exact> exact = nullptr;
  explicit operator bool() const { return f64 && big && exact; }
};

/// The formula over tiles of n <= tile_size elements. Operands marked `scalar` have one element. `out` has arrays of its own;
/// the caller says whether it is a point (its ends are then one array pair); out.plain is not read: look at the flags written.
using BulkFormula = void (*)(std::span<const Tile> operands, const Tile& out, std::size_t n, const Attributes&);

/// The formula and the rounding of its result in one pass; `out` is a point. Attributes: of the operation, of the rounding.
using RoundedFormula = RoundedTile (*)(std::span<const Tile> operands, const Tile& out, std::size_t n, const Attributes&, const Attributes& rounding);

/// Where element (i0, i1, ..) of a view lies: offset + sum i_k * strides[k], in elements.
struct View {
  Extents extents;
  Extents strides;
  std::int64_t offset = 0;
  static View contiguous(const Extents&);
};

/// A rule of types or shapes that the operands break; `operand` is the one to point at (-1: the whole).
struct RuleBroken {
  std::string what;
  int operand = -1;
  std::string label = {};
};

struct Op;
namespace lanes {
struct Loops;
}

/// What an op on complex operands is made of: appends the nodes of both parts. Throws RuleBroken.
using ComplexRule = NodeId (*)(Graph&, const Op&, const std::vector<NodeId>& operands, const Attributes&, const Span&);

/// What an op means to a sum that is opened into its terms (ops/terms.hpp).
enum class SumRole { none, plus, minus, product, reduction, contraction };

struct Op : OpName {
  std::string_view doc;     // one line with shapes
  std::string_view source;  // where its meaning or bound comes from
  Gather gather = Gather::map;
  int operands_min = 1;
  int operands_max = 1;     // -1: any number
  Type (*type)(std::span<const Type>, const Attributes&) = nullptr;     // throws RuleBroken
  Shape (*shape)(std::span<const Shape>, const Attributes&) = nullptr;  // throws RuleBroken
  Formulas map = {};        // of one element (Gather::map), or of two partial results or all elements (Gather::reduce)
  BulkFormula bulk = nullptr;  // Gather::map and Gather::reduce: the same formula, over tiles; never null there
  RoundedFormula rounded = nullptr;  // Gather::map: for tiles of single numbers; may be null
  const lanes::Loops* loops = nullptr;  // what `rounded` runs; null with it
  std::optional<View> (*view)(const View&, const Node&) = nullptr;  // Gather::view; empty: the operand has to be copied first
  double (*element)(std::int64_t at) = nullptr;  // Gather::source: the element at this place, where it follows from the place
  bool (*freedom)(const Attributes&) = nullptr;  // nullptr: none
  /// A few nodes without freedom that together allow what this one does (sr: down or up); empty: not so. Null: never.
  std::vector<Attributes> (*alternatives)(const Attributes&) = nullptr;
  bool is_rational = true;  // rationals in, rationals out: the exact tier always ends
  bool arithmetic = false;  // `in F { }` rounds it once
  bool is_function = false; // a function that `ulp=` and `approx` concern (exp, sqrt ...)
  bool open_ends = false;   // an enclosure of its result that is not one number does not end at the result, in any number type
  bool is_product = false;  // an exact scalar parameter among the operands scales the others
  bool is_choice = false;   // is one of its operands, as the implementation likes (any_of)
  bool selects = false;     // its value is that of an operand, or the opposite of one (where, maximum, neg)
  bool rounds_operand = false;  // rounds its operand into attributes.format, and does nothing else (round)
  SumRole sum_role = SumRole::none;  // add, sub, mul, sum, matmul
  double empty = 0;         // Gather::reduce: the value of an empty reduction
  bool is_prefix = false;   // Gather::reduce, Gather::sum: an element is made of those up to its own along the axis (cumsum)
  bool is_whole = false;    // Gather::reduce: the formula takes all elements at once; one that a mask leaves out is the empty set
  ComplexRule complex = nullptr;  // nullptr: takes real numbers only
};

std::span<const Op* const> all_ops();
const Op* find_op(std::string_view name);
const Op& op(std::string_view name);  // Bug if there is none
inline const Op& row(const Node& node) { return static_cast<const Op&>(*node.op); }

/// Appends a node after its rules of types and shapes. Throws RuleBroken.
/// A literal beside a tensor counts as a value of the tensor's type where it is one: maximum(x, 0) keeps the format of x.
NodeId build(Graph&, const Op&, std::vector<NodeId> operands, Attributes = {}, Span = {});

/// Appends an input (it has no rules), and lists it in graph.inputs.
NodeId build_input(Graph&, std::string name, Type, Shape, bool scalar_parameter = false, Span = {});

}  // namespace erx
