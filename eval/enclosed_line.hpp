// Sums of numbers that are known by enclosures, or of products of two: the parts of one element, read in runs (ops/enclosed_sum.hpp). What they
// cannot tell (special values, zeros alone, numbers near the ends of the range, sums that doubles hold exactly) is gathered leaf by leaf.
//   EnclosedLine line(engine, sum);   if (line.parts(element, parts)) ..
#pragma once
#include <algorithm>
#include <vector>

#include "eval/engine.hpp"
#include "eval/merge_axes.hpp"
#include "ops/enclosed_sum.hpp"

namespace erx {

class EnclosedLine {
 public:
  /// Long sums of stored terms; products of numbers without freedom.
  static bool fits(const Engine& engine, const SumNode& sum) {
    constexpr std::int64_t worth = 32;
    if (sum.rule.needs_leaves(sum.leaves) || !sum.is_plain() || sum.leaves < worth || sum.leaves > std::int64_t{1} << 30) return false;
    bool open = false;
    for (const Term& t : sum.terms) {
      if (engine.stored(t.a.node).in_place || (t.b && engine.stored(t.b->node).in_place)) return false;
      if (t.b && (!engine.stored(t.a.node).is_point || !engine.stored(t.b->node).is_point || !sum.flushed_below.empty())) return false;
      open |= !engine.stored(t.a.node).is_exact || (t.b && !engine.stored(t.b->node).is_exact);
    }
    return open;  // exact ones are summed exactly
  }

  EnclosedLine(const Engine& engine, const SumNode& sum) : extents_(sum.extents), rounds_(sum.rule.rounds) {
    for (std::size_t t = 0; t < sum.terms.size(); ++t) {
      const Term& term = sum.terms[t];
      Line line{term.negative, term.reduced, {factor(engine, term.a)}, term.leaves(), sum.is_product[t]};
      if (term.b) line.factors.push_back(factor(engine, *term.b));
      merge(line);
      lines_.push_back(std::move(line));
    }
  }

  /// Arrays for what is no run in memory.
  struct Buffer {
    std::vector<double> ends[2][4];
  };

  /// returns: false if the element has to be gathered leaf by leaf; `parts` is then as it was.
  bool parts(std::int64_t element, SumParts<F64>& parts, Buffer& buffer) const {
    EnclosedSum low, high;  // the sums of the lower and of the upper ends; without freedom only the first
    double magnitude = 0;   // of terms with freedom
    bool point = true, nonzero = false;
    SumParts<F64> p;
    for (const Line& line : lines_) {
      EnclosedSum l, h;
      const bool is_point = line.factors.size() == 2 || line.factors[0].is_point;
      const bool read = read_runs(line, element, buffer, nonzero, [&](const double* const* a, const double* const* b, std::size_t n) {
        if (b) l.add_products(a[0], a[1], b[0], b[1], n);
        else l.add(a[0], a[1], n);
        if (is_point) return;
        h.add(a[2], a[3], n);
        magnitude += sum_of_magnitudes(a[0], a[3], n);
      });
      if (!read) return false;
      if (is_point) h = l;
      point = point && is_point;
      if (line.negative) {
        l.negate();
        h.negate();
        std::swap(l, h);
      }
      low.add(l);
      high.add(h);
      p.leaves += line.leaves;
      p.products += line.is_product ? line.leaves : 0;
    }
    // Without a leaf that is surely not 0 the sum's zero may be a negative one.
    if (!nonzero || !low.is_ordinary() || !high.is_ordinary()) return false;
    const F64 lower = low.value(), upper = point ? lower : high.value();
    if (rounds_ && is_exact(lower) && is_exact(upper)) return false;  // the grid rule may tell more
    p.lower = lower;
    p.upper = upper;
    p.is_point = point;
    if (rounds_) {
      if (!point) return false;
      p.magnitude = low.magnitude();
    }
    parts = p;
    return true;
  }

 private:
  static constexpr std::int64_t run = 1024;  // leaves at a time: the arrays of a buffer stay in the first cache
  struct Operand {
    const double* ends[4];  // lo_d lo_u hi_d hi_u
    const std::uint8_t* flags;
    Extents out, reduced;
    bool is_point;
  };
  struct Line {
    bool negative;
    Extents reduced;
    std::vector<Operand> factors;
    std::int64_t leaves;
    bool is_product;
  };
  Extents extents_;
  bool rounds_;
  std::vector<Line> lines_;

  static Operand factor(const Engine& engine, const Factor& f) {
    const Stored& s = engine.stored(f.node);
    const Plane& p = s.hull;
    return {{p.lo_d->data(), p.lo_u->data(), p.hi_d->data(), p.hi_u->data()}, p.flags ? p.flags->data() : nullptr, f.out_strides, f.reduced_strides, s.is_point};
  }
  /// Reduced dimensions that follow on one another in memory are one; a term of one leaf has a dimension too.
  static void merge(Line& line) {
    if (line.reduced.empty()) {
      line.reduced = {1};
      for (Operand& f : line.factors) f.reduced = {1};
    }
    merge_axes(line.reduced, line.factors);
  }

  /// add(ends of a, ends of b or null, n) for each run. returns: false if a leaf is special. `nonzero`: some leaf is surely not 0.
  template <class Add>
  bool read_runs(const Line& line, std::int64_t element, Buffer& buffer, bool& nonzero, const Add& add) const {
    std::int64_t base[2] = {0, 0};
    for (std::size_t k = 0; k < line.factors.size(); ++k) base[k] = strided_offset(extents_, line.factors[k].out, element);
    const std::int64_t length = line.reduced.back();
    for (std::int64_t first = 0; first < line.leaves; first += length)
      for (std::int64_t inner = 0; inner < length; inner += run) {
        const std::int64_t n = std::min(run, length - inner);
        const double* ends[2][4] = {};
        std::uint8_t at_first = 0;
        for (std::size_t k = 0; k < line.factors.size(); ++k) {
          const Operand& f = line.factors[k];
          const std::int64_t at = base[k] + strided_offset(line.reduced, f.reduced, first + inner), step = f.reduced.back();
          if (f.flags) {
            std::uint8_t found = 0;
            for (std::int64_t i = 0; i < (step == 0 ? 1 : n); ++i) found |= f.flags[at + i * step];
            if (found & ~any_zero) return false;
            at_first |= f.flags[at];
          }
          for (int e = 0; e < (f.is_point ? 2 : 4); ++e) {
            int twin = 0;
            while (f.ends[twin] != f.ends[e]) ++twin;
            ends[k][e] = twin < e ? ends[k][twin] : step == 1 ? f.ends[e] + at : gather(f.ends[e] + at, step, n, buffer.ends[k][e]);
          }
        }
        nonzero |= !(at_first & any_zero);
        add(ends[0], line.factors.size() == 2 ? ends[1] : nullptr, static_cast<std::size_t>(n));
      }
    return true;
  }
  static const double* gather(const double* from, std::int64_t step, std::int64_t n, std::vector<double>& to) {
    to.resize(static_cast<std::size_t>(run));
    for (std::int64_t i = 0; i < n; ++i) to[static_cast<std::size_t>(i)] = from[i * step];
    return to.data();
  }
};

}  // namespace erx
