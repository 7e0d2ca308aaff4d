// A sum to be evaluated: its terms, its rule, and how the leaves of one element are visited.
#pragma once
#include <algorithm>
#include <vector>

#include "eval/set_tensor.hpp"
#include "ops/accumulate.hpp"
#include "ops/terms.hpp"

namespace erx {

struct SumNode {
  NodeId node;
  SumRule rule;
  std::vector<Term> terms;      // without the absent ones
  std::vector<bool> is_product;  // per term: enters like a product, rounded or fused
  std::vector<std::pair<int, int>> least_exponents;  // per term: exponent fields of zero and subnormal factors
  Extents extents;
  std::int64_t leaves = 0;  // at most
  std::vector<std::pair<double, double>> flushed_below = {};  // per term: factors of smaller magnitude may be read as 0; empty: none
  struct Mask {
    Plane::Array values;  // 0 or 1
    const double* at(std::int64_t i) const { return values->data() + i; }
  };
  std::vector<std::vector<Mask>> masks = {};  // per term, as term.masks

  bool is_plain() const { return std::all_of(terms.begin(), terms.end(), [](const Term& t) { return t.is_plain(); }); }
};

/// The leaves of a term that has masks or bounds: those that are there.
template <class Visit>
void for_each_present_leaf(const SumNode& sum, std::size_t t, const Extents& index, Visit visit) {
  const Term& term = sum.terms[t];
  const std::size_t rank = index.size(), depth = term.reduced.size();
  if (term.leaves() == 0) return;
  Extents at(depth, 0);
  const auto limit = [&](std::size_t k) {
    const int loop = term.bounds.empty() ? Term::whole : term.bounds[k];
    if (loop == Term::whole) return term.reduced[k];
    const std::size_t l = static_cast<std::size_t>(loop);
    return (l < rank ? index[l] : at[l - rank]) + 1;
  };
  const auto offset = [&](const Factor& f) {
    std::int64_t sum_of = 0;
    for (std::size_t k = 0; k < rank; ++k) sum_of += index[k] * f.out_strides[k];
    for (std::size_t k = 0; k < depth; ++k) sum_of += at[k] * f.reduced_strides[k];
    return sum_of;
  };
  while (true) {
    bool present = true;
    for (std::size_t m = 0; m < term.masks.size(); ++m) present = present && *sum.masks[t][m].at(offset(term.masks[m])) != 0;
    if (present) visit(t, offset(term.a), term.b ? offset(*term.b) : 0);
    std::size_t k = depth;
    while (k > 0 && ++at[k - 1] >= limit(k - 1)) at[--k] = 0;
    if (k == 0) return;
  }
}

/// Visits each leaf of the element at `flat`, but not of the terms to `skip`: visit(term, offset of a, offset of b).
template <class Visit>
void for_each_leaf(const SumNode& sum, std::int64_t flat, const std::vector<bool>& skip, Visit visit) {
  const std::size_t rank = sum.extents.size();
  Extents index(rank);
  for (std::size_t k = rank; k-- > 0;) {
    index[k] = flat % sum.extents[k];
    flat /= sum.extents[k];
  }
  Extents at;
  for (std::size_t t = 0; t < sum.terms.size(); ++t) {
    if (!skip.empty() && skip[t]) continue;
    const Term& term = sum.terms[t];
    if (!term.is_plain()) {
      for_each_present_leaf(sum, t, index, visit);
      continue;
    }
    std::int64_t a = 0, b = 0;
    for (std::size_t k = 0; k < rank; ++k) {
      a += index[k] * term.a.out_strides[k];
      if (term.b) b += index[k] * term.b->out_strides[k];
    }
    const std::int64_t count = term.leaves();
    const std::size_t depth = term.reduced.size();
    at.assign(depth, 0);
    for (std::int64_t n = 0; n < count; ++n) {
      visit(t, a, b);
      for (std::size_t k = depth; k-- > 0;) {
        a += term.a.reduced_strides[k];
        if (term.b) b += term.b->reduced_strides[k];
        if (++at[k] < term.reduced[k]) break;
        a -= term.a.reduced_strides[k] * term.reduced[k];
        if (term.b) b -= term.b->reduced_strides[k] * term.reduced[k];
        at[k] = 0;
      }
    }
  }
}

template <class Visit>
void for_each_leaf(const SumNode& sum, std::int64_t flat, Visit visit) {
  for_each_leaf(sum, flat, {}, visit);
}

/// The leaves in the order of the ordered sums: terms inside one sum, sum(a - c), take turns at each of its places.
template <class Visit>
class OrderedLeaves {
 public:
  OrderedLeaves(const SumNode& sum, std::int64_t flat, Visit visit) : sum_(sum), index_(sum.extents.size()), visit_(visit) {
    for (std::size_t k = index_.size(); k-- > 0;) {
      index_[k] = flat % sum.extents[k];
      flat /= sum.extents[k];
    }
  }
  void run() { walk(0, sum_.terms.size(), 0); }

 private:
  const SumNode& sum_;
  Extents index_, at_;  // at_: of the loops that are open
  Visit visit_;

  std::int64_t limit(const Term& term, std::size_t k) const {
    const int loop = term.bounds.empty() ? Term::whole : term.bounds[k];
    if (loop == Term::whole) return term.reduced[k];
    const std::size_t l = static_cast<std::size_t>(loop);
    return (l < index_.size() ? index_[l] : at_[l - index_.size()]) + 1;
  }
  std::int64_t offset(const Factor& f) const {
    std::int64_t all = 0;
    for (std::size_t k = 0; k < index_.size(); ++k) all += index_[k] * f.out_strides[k];
    for (std::size_t k = 0; k < at_.size(); ++k) all += at_[k] * f.reduced_strides[k];
    return all;
  }
  void leaf(std::size_t t) {
    const Term& term = sum_.terms[t];
    for (std::size_t m = 0; m < term.masks.size(); ++m)
      if (*sum_.masks[t][m].at(offset(term.masks[m])) == 0) return;
    visit_(t, offset(term.a), term.b ? offset(*term.b) : 0);
  }
  /// Terms [first, last), which share the first `depth` loops.
  void walk(std::size_t first, std::size_t last, std::size_t depth) {
    while (first < last) {
      const Term& term = sum_.terms[first];
      std::size_t end = first + 1;
      if (term.loops.size() == depth) {
        leaf(first);
      } else {
        while (end < last && sum_.terms[end].loops.size() > depth && sum_.terms[end].loops[depth] == term.loops[depth]) ++end;
        at_.push_back(0);
        for (const std::int64_t n = limit(term, depth); at_[depth] < n; ++at_[depth]) walk(first, end, depth + 1);
        at_.pop_back();
      }
      first = end;
    }
  }
};

/// Do terms share a loop, so that their leaves take turns?
inline bool take_turns(const SumNode& sum) {
  for (std::size_t t = 1; t < sum.terms.size(); ++t)
    if (!sum.terms[t].loops.empty() && !sum.terms[t - 1].loops.empty() && sum.terms[t].loops[0] == sum.terms[t - 1].loops[0]) return true;
  return false;
}

}  // namespace erx
