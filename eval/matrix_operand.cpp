#include "eval/matrix_operand.hpp"

#include <algorithm>

#include "eval/parallel.hpp"

namespace erx {
namespace {

const Factor& factor_of(const Term& t, bool right) { return right ? *t.b : t.a; }

/// Copies every term into its place along the sum; signs go to the first factors.
void lay_out(const Engine& engine, const SumNode& sum, const std::vector<const Term*>& terms, bool right, MatrixOperand& m) {
  const std::size_t rank = sum.extents.size(), line_axis = right ? rank - 1 : rank - 2;
  // A batch dimension in which no term varies is not repeated.
  Extents own = m.batch_extents;
  bool has_flags = false;
  for (std::size_t k = 0; k < own.size(); ++k)
    if (std::all_of(terms.begin(), terms.end(), [&](const Term* t) { return factor_of(*t, right).out_strides[k] == 0; })) own[k] = 1;
  for (const Term* t : terms) has_flags |= engine.stored(factor_of(*t, right).node).hull.flags != nullptr;
  const std::int64_t batches = size_of(own), matrix = m.lines * m.depth;
  auto values = std::make_shared<Doubles>(static_cast<std::size_t>(batches * matrix));
  auto flags = has_flags ? std::make_shared<FlagBytes>(values->size(), 0) : nullptr;
  m.line = right ? 1 : m.depth;
  m.term = right ? m.lines : 1;
  m.batch_strides = contiguous_strides(own);
  for (std::size_t k = 0; k < own.size(); ++k) m.batch_strides[k] = own[k] == 1 ? 0 : m.batch_strides[k] * matrix;
  std::int64_t start = 0;
  for (const Term* t : terms) {
    const Factor& f = factor_of(*t, right);
    const Plane& p = engine.stored(f.node).hull;
    const double sign = t->negative && !right ? -1 : 1;
    const std::int64_t from_line = f.out_strides[line_axis], from_term = f.reduced_strides[0], n = t->reduced[0];
    parallel_blocks(batches, engine.options(), [&](std::int64_t batch) {
      std::int64_t from = 0, rest = batch;
      for (std::size_t k = own.size(); k-- > 0; rest /= own[k]) from += rest % own[k] * f.out_strides[k];
      const auto copy = [&](std::int64_t i, std::int64_t k) {
        const auto at = static_cast<std::size_t>(batch * matrix + i * m.line + (start + k) * m.term), source = static_cast<std::size_t>(from + i * from_line + k * from_term);
        (*values)[at] = sign * (*p.lo_d)[source];
        if (flags && p.flags) (*flags)[at] = (*p.flags)[source];
      };
      if (right) {
        for (std::int64_t k = 0; k < n; ++k)
          for (std::int64_t i = 0; i < m.lines; ++i) copy(i, k);
      } else {
        for (std::int64_t i = 0; i < m.lines; ++i)
          for (std::int64_t k = 0; k < n; ++k) copy(i, k);
      }
    });
    start += n;
  }
  m.values = values.get();
  m.flags = flags.get();
  m.own_values = std::move(values);
  m.own_flags = std::move(flags);
}

}  // namespace

std::int64_t MatrixOperand::offset(std::int64_t batch) const {
  std::int64_t at = 0;
  for (std::size_t k = batch_extents.size(); k-- > 0; batch /= batch_extents[k]) at += batch % batch_extents[k] * batch_strides[k];
  return at;
}

MatrixOperand matrix_operand(const Engine& engine, const SumNode& sum, bool right) {
  const std::size_t rank = sum.extents.size();
  std::vector<const Term*> terms;
  MatrixOperand m;
  m.batch_extents.assign(sum.extents.begin(), sum.extents.end() - 2);
  m.lines = sum.extents[right ? rank - 1 : rank - 2];
  for (const Term& t : sum.terms) {
    if (t.reduced.empty()) continue;
    terms.push_back(&t);
    m.depth += t.reduced[0];
  }
  if (terms.size() > 1) {
    lay_out(engine, sum, terms, right, m);
    return m;
  }
  const Factor& f = factor_of(*terms[0], right);
  const Plane& p = engine.stored(f.node).hull;
  m.values = p.lo_d.get();
  m.flags = p.flags.get();
  m.line = f.out_strides[right ? rank - 1 : rank - 2];
  m.term = f.reduced_strides[0];
  m.batch_strides.assign(f.out_strides.begin(), f.out_strides.end() - 2);
  m.negative = terms[0]->negative;
  return m;
}

}  // namespace erx
