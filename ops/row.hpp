// How a row is written: its fields by name, and one formula type.
//   struct Add { template <class R> static Set<R> of(std::span<const Set<R>> x, const Attributes&, Context) {...} };
//   const Op add = map_row<Add>({.name = "add", .symbol = "+", .doc = "x + y", .source = "IEEE 754", .operands = 2});
// A row without a name, a doc line or a source is a Bug at the first use of the table.
#pragma once
#include "ops/bulk.hpp"
#include "ops/complex.hpp"
#include "ops/op.hpp"
#include "ops/rounded_formula.hpp"
#include "ops/rules.hpp"

namespace erx {

struct Row {
  std::string_view name;
  std::string_view symbol = "";
  std::string_view doc;
  std::string_view source;
  int operands = 1;
  int operands_max = 0;  // 0: exactly `operands`; -1: any number from there
  Type (*type)(std::span<const Type>, const Attributes&) = rules::real_type;
  Shape (*shape)(std::span<const Shape>, const Attributes&) = rules::broadcast_shape;
  std::optional<View> (*view)(const View&, const Node&) = nullptr;
  double (*element)(std::int64_t at) = nullptr;
  bool (*freedom)(const Attributes&) = nullptr;
  std::vector<Attributes> (*alternatives)(const Attributes&) = nullptr;
  bool rational = true;
  bool arithmetic = false;
  bool function = false;
  bool open_ends = false;
  bool product = false;
  bool choice = false;
  bool selects = false;
  bool rounds = false;
  SumRole sum_role = SumRole::none;
  double empty = 0;
  bool prefix = false;
  bool whole = false;
  ComplexRule complex = nullptr;
};

Op make_row(const Row&, Gather);

/// A row whose one formula serves every number type, and tiles. A row without one does not compile.
template <class F>
Op map_row(const Row& r, Gather gather = Gather::map) {
  Op op = make_row(r, gather);
  op.map = {&F::template of<F64>, &F::template of<Big>, &F::template of<Exact>};
  op.bulk = &bulk_formula<F>;
  if constexpr (HasLoops<F>)
    if (gather == Gather::map) {
      op.rounded = &rounded_formula<F>;
      op.loops = &F::loops;
    }
  return op;
}

template <std::size_t N>
std::vector<const Op*> pointers(const Op (&rows)[N]) {
  std::vector<const Op*> all;
  for (const Op& row : rows) all.push_back(&row);
  return all;
}

}  // namespace erx
