// The leaves of a sum of exactly known elements, or of products of two, as runs of doubles: element by element, any part of a line.
// Reduced dimensions that follow on one another in memory are one.
//   LeafLine leaves(engine, sum);   leaves.read(element, first, n, buffer)   // .a[i], .b[i] are the factors of leaf first + i
#pragma once
#include <algorithm>
#include <vector>

#include "eval/engine.hpp"
#include "eval/merge_axes.hpp"
#include "ops/number_tile.hpp"

namespace erx {

class LeafLine {
 public:
  /// One term, plain, of exact points without freedom.
  static bool fits(const Engine& engine, const SumNode& sum) {
    if (sum.terms.size() != 1 || !sum.is_plain() || sum.terms[0].reduced.empty()) return false;
    const auto exact = [&](NodeId id) { return engine.stored(id).is_exact && engine.stored(id).is_point; };
    return exact(sum.terms[0].a.node) && (!sum.terms[0].b || exact(sum.terms[0].b->node));
  }

  LeafLine(const Engine& engine, const SumNode& sum) : extents_(sum.extents), reduced_(sum.terms[0].reduced) {
    const Term& term = sum.terms[0];
    factors_.push_back(factor(engine, term.a));
    if (term.b) factors_.push_back(factor(engine, *term.b));
    merge_axes(reduced_, factors_);
  }

  bool is_product() const { return factors_.size() == 2; }
  /// An input without arrays: only `read` may be used, on runs that a buffer holds.
  bool is_in_place() const {
    return std::any_of(factors_.begin(), factors_.end(), [](const Factor& f) { return f.in_place != nullptr; });
  }
  /// Can one that is in place be read at all: are the leaves of an element side by side?
  bool is_readable() const { return !is_in_place() || (factors_.size() == 1 && !reduced_.empty() && factors_[0].reduced.back() == 1 && !is_across()); }
  std::int64_t size() const { return size_of(reduced_); }
  /// Of the last dimension of the result: elements side by side whose leaves lie side by side too, or are the same.
  bool is_across() const {
    if (extents_.empty() || extents_.back() < 8) return false;
    bool any = false;
    for (const Factor& f : factors_) {
      if (f.out.back() != 0 && f.out.back() != 1) return false;
      any |= f.out.back() == 1;
    }
    return any;
  }

  struct Buffer {
    std::vector<double> a, b;
  };
  struct Run {
    const double *a = nullptr, *b = nullptr;  // b: null for plain leaves
    bool special = false;                     // some leaf is infinite or NaN
  };
  /// Leaves [first, first + n) of the element.
  Run read(std::int64_t element, std::int64_t first, std::int64_t n, Buffer& buffer) const {
    Run run{nullptr, nullptr, false};
    run.a = read(factors_[0], element, first, n, buffer.a, &run.special);
    if (is_product()) run.b = read(factors_[1], element, first, n, buffer.b, &run.special);
    return run;
  }
  /// The same of plain leaves, where someone else looks whether any is special.
  const double* read_plain(std::int64_t element, std::int64_t first, std::int64_t n, std::vector<double>& buffer) const {
    return read(factors_[0], element, first, n, buffer, nullptr);
  }
  /// One leaf of `n` elements side by side, from `element` on; a factor that they share has step 0.
  struct Across {
    const double *a, *b;
    std::int64_t step_a, step_b;
    bool special;
  };
  Across across(std::int64_t element, std::int64_t leaf, std::int64_t n) const {
    Across x{nullptr, nullptr, 0, 0, false};
    x.a = across(factors_[0], element, leaf, n, x.step_a, x.special);
    if (is_product()) x.b = across(factors_[1], element, leaf, n, x.step_b, x.special);
    return x;
  }

 private:
  struct Factor {
    const double* values;
    const std::uint8_t* flags;
    Extents out, reduced;
    const Tensor* in_place = nullptr;
  };
  Extents extents_, reduced_;
  std::vector<Factor> factors_;

  static Factor factor(const Engine& engine, const erx::Factor& f) {
    const Stored& s = engine.stored(f.node);
    if (s.in_place) return {nullptr, nullptr, f.out_strides, f.reduced_strides, s.in_place};
    const Plane& p = s.hull;
    return {p.lo_d->data(), p.flags ? p.flags->data() : nullptr, f.out_strides, f.reduced_strides};
  }
  static bool is_special(const std::uint8_t* flags, std::int64_t n, std::int64_t step) {
    std::uint8_t found = 0;
    for (std::int64_t i = 0; i < n; ++i) found |= flags[i * step];
    return found & ~any_zero;
  }
  const double* read(const Factor& f, std::int64_t element, std::int64_t first, std::int64_t n, std::vector<double>& buffer, bool* special) const {
    const std::int64_t base = strided_offset(extents_, f.out, element), length = reduced_.back(), step = f.reduced.back();
    if (!f.in_place && step == 1 && first / length == (first + n - 1) / length) {  // one run in memory
      const std::int64_t at = base + strided_offset(reduced_, f.reduced, first);
      if (special) *special |= f.flags && is_special(f.flags + at, n, 1);
      return f.values + at;
    }
    buffer.resize(static_cast<std::size_t>(n));
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t at = base + strided_offset(reduced_, f.reduced, first + done), run = std::min(n - done, length - (first + done) % length);
      double* to = buffer.data() + done;
      if (f.in_place) {
        f.in_place->decode(at, run, to);
        if (special) *special |= look_at(to, static_cast<std::size_t>(run)) == Decoded::special;
      } else {
        if (special) *special |= f.flags && is_special(f.flags + at, run, step);
        for (std::int64_t i = 0; i < run; ++i) to[i] = f.values[at + i * step];
      }
      done += run;
    }
    return buffer.data();
  }
  const double* across(const Factor& f, std::int64_t element, std::int64_t leaf, std::int64_t n, std::int64_t& step, bool& special) const {
    const std::int64_t at = strided_offset(extents_, f.out, element) + strided_offset(reduced_, f.reduced, leaf);
    step = f.out.back();
    special |= f.flags && is_special(f.flags + at, step == 0 ? 1 : n, 1);
    return f.values + at;
  }
};

}  // namespace erx
