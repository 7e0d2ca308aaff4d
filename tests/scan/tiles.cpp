// The loops over many lines against the same recurrences in exact rationals: one order gives the same sets, the bound never less.
#include <bit>
#include <cstdio>
#include <random>
#include <sstream>

#include "ops/scan_tile.hpp"
#include "tests/scan/checks.hpp"
#include "tests/sum/cases.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;

constexpr std::size_t width = 37, longest = 40;  // a tile of whole blocks and a rest

struct Tile {
  std::vector<double> a_lo, a_hi, b_lo, b_hi, init_lo, init_hi, lo, hi;
  std::vector<std::uint8_t> flags;
  explicit Tile(std::size_t n) : a_lo(n), a_hi(n), b_lo(n), b_hi(n), init_lo(width), init_hi(width), lo(n), hi(n), flags(n) {}
};

Set<Exact> between(double lo, double hi) {
  if (lo == hi) return Set<Exact>::point(Exact::exact(lo), lo == 0 ? (std::signbit(lo) ? has_nzero : has_pzero) : 0);
  return Set<Exact>::between(Exact::exact(lo), Exact::exact(hi), lo <= 0 && hi >= 0 ? any_zero : 0);
}

double near(double x, const Format& f) { return round_to(x, f, {Mode::rne, Overflow::sat, Flush::no}); }

/// Values of one kind for a whole line: decaying, growing, whole numbers, tiny, huge, with zeros of both signs.
class LineValues {
 public:
  LineValues(std::uint64_t seed, const Format& f) : random_(seed), f_(f) {}
  std::uint64_t operator()(std::uint64_t n) { return random_() % n; }
  double factor(std::uint64_t kind) {
    const double x = uniform();
    switch (kind) {
      case 0: return near(0.5 + x / 2, f_);
      case 1: return near(2 * x - 1, f_);
      case 2: return near(3 * x - 1.5, f_);
      case 3: return random_() % 4 ? 1 : random_() % 2 ? 0.0 : -0.0;
      case 4: return near(std::ldexp(x, f_.emin() / 8), f_);
      default: return near(1 - std::ldexp(x, -6), f_);
    }
  }
  double term(std::uint64_t kind) {
    const double x = 2 * uniform() - 1;
    switch (kind) {
      case 1: return random_() % 3 ? near(x, f_) : random_() % 2 ? 0.0 : -0.0;
      case 3: return static_cast<double>(random_() % 5);
      case 4: return near(std::ldexp(x, f_.emin() + 4), f_);
      case 6: return near(x * f_.max_finite() / 4, f_);
      default: return near(x, f_);
    }
  }

 private:
  std::mt19937_64 random_;
  const Format& f_;
  double uniform() { return std::ldexp(static_cast<double>(random_() >> 11), -53); }
};

/// Every line by itself, which is done in full: it has to have the same bits as among others, where most are done quickly.
Found depends_on_others(const ScanRule& rule, Tile& x, std::size_t steps, bool has_init, bool sets, const ScanTile& among) {
  for (std::size_t i = 0; i < width; ++i) {
    const double *first = &x.init_lo[i], *last = sets ? &x.init_hi[i] : first;
    ScanTile alone(rule, 1, has_init ? first : nullptr, has_init ? last : nullptr);
    std::vector<double> lo(steps), hi(steps);
    std::vector<std::uint8_t> flags(steps);
    std::vector<ScanStepRow> rows;
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t at = t * width + i;
      rows.push_back({&x.a_lo[at], &(sets ? x.a_hi : x.a_lo)[at], &x.b_lo[at], &(sets ? x.b_hi : x.b_lo)[at], &lo[t], &hi[t], &flags[t]});
    }
    alone.run(rows.data(), steps);
    std::ostringstream out;
    out.precision(17);
    if (alone.is_open(0) || among.is_open(i)) continue;  // which may differ at the largest value
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t at = t * width + i;
      if (std::bit_cast<std::uint64_t>(lo[t]) == std::bit_cast<std::uint64_t>(x.lo[at]) && std::bit_cast<std::uint64_t>(hi[t]) == std::bit_cast<std::uint64_t>(x.hi[at]) && flags[t] == x.flags[at]) continue;
      out << (rule.in_order ? "in order" : "any") << " fma " << static_cast<int>(rule.contraction) << " line " << i << " step " << t + 1 << " of " << steps << ": by itself [" << lo[t] << ", " << hi[t] << "] flags "
          << static_cast<int>(flags[t]) << ", among others [" << x.lo[at] << ", " << x.hi[at] << "] flags " << static_cast<int>(x.flags[at]);
      return out.str();
    }
  }
  return {};
}

Found run(int effort, std::uint64_t seed, bool in_order, bool sets, Figures& figures) {
  const char* const names[] = {"f32", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f64"};
  for (const char* name : names) {
    const Format& f = *find_format(name);
    LineValues random(seed, f);
    for (int round = 0; round < std::max(1, effort / 20); ++round) {
      ScanRule rule;
      rule.format = f;
      rule.in_order = in_order;
      rule.contraction = std::array{Contraction::free, Contraction::always, Contraction::never}[random(3)];
      rule.flush = !in_order && random(3) == 0 ? Flush::yes : Flush::no;
      rule.hull_steps = 0;
      if (!ScanTile::serves(rule)) return std::string(name) + " is not served";
      const std::size_t steps = 1 + random(longest);
      const bool has_init = random(2);
      Tile x(width * steps);
      const std::uint64_t common = random(16);  // lines of one kind are what the quick loops are for
      for (std::size_t i = 0; i < width; ++i) {
        const std::uint64_t kind = common < 8 ? common : random(8);
        const auto fill = [&](double& lo, double& hi, double one, double other) {
          lo = sets ? std::min(one, other) : one;
          hi = sets ? std::max(one, other) : one;
        };
        fill(x.init_lo[i], x.init_hi[i], random.term(kind), random.term(kind));
        for (std::size_t t = 0; t < steps; ++t) {
          const bool wide = random(3) == 0;
          // Kind 7: every other fused sum of float32 lies 2^-56 below the middle of two values, where float64 rounds it to.
          const bool odd = t % 2;
          const double a = kind != 7 ? random.factor(kind) : near(odd ? 0x1p-24 + 0x1p-40 : 0, f), b = kind != 7 ? random.term(kind) : near(odd ? 1 + 0x1p-23 : 1 - 0x1p-16, f);
          fill(x.a_lo[t * width + i], x.a_hi[t * width + i], a, wide ? random.factor(kind) : a);
          fill(x.b_lo[t * width + i], x.b_hi[t * width + i], b, wide ? random.term(kind) : b);
        }
      }
      const auto row = [&](std::vector<double>& v, std::size_t t) { return v.data() + t * width; };
      ScanTile tile(rule, width, has_init ? x.init_lo.data() : nullptr, has_init ? (sets ? x.init_hi : x.init_lo).data() : nullptr);
      std::vector<ScanStepRow> rows;
      for (std::size_t t = 0; t < steps; ++t)
        rows.push_back({row(x.a_lo, t), row(sets ? x.a_hi : x.a_lo, t), row(x.b_lo, t), row(sets ? x.b_hi : x.b_lo, t), row(x.lo, t), row(x.hi, t), x.flags.data() + t * width});
      const std::size_t first = random(steps + 1);  // in two parts
      tile.run(rows.data(), first);
      tile.run(rows.data() + first, steps - first);
      if (const Found f = depends_on_others(rule, x, steps, has_init, sets, tile)) return std::string(name) + " of seed " + std::to_string(seed) + ": " + *f;
      for (std::size_t i = 0; i < width; ++i) {
        ++figures.cases;
        if (tile.is_open(i)) continue;
        ScanLine<Exact> line;
        for (std::size_t t = 0; t < steps; ++t) {
          line.a.push_back(between(x.a_lo[t * width + i], x.a_hi[t * width + i]));
          line.b.push_back(between(x.b_lo[t * width + i], x.b_hi[t * width + i]));
        }
        if (has_init) line.init = between(x.init_lo[i], x.init_hi[i]);
        const auto want = scan_states(line, rule, {});
        for (std::size_t t = 0; t < steps; ++t) {
          const double lo = x.lo[t * width + i], hi = x.hi[t * width + i], low = lower(want[t].lo), high = upper(want[t].is_point ? want[t].lo : want[t].hi);
          const std::uint8_t flags = x.flags[t * width + i], own = want[t].flags;
          ++figures.values;
          const bool reals = want[t].has_reals() && !(own & (has_nan | any_infinity));
          const bool one_value = !sets && rule.contraction != Contraction::free;
          const bool zeros = one_value && in_order ? (lo != 0 || (flags & any_zero) == (own & any_zero)) : low > 0 || high < 0 || !(own & any_zero & ~flags);
          const bool right = in_order ? lo == low && hi == high : lo <= low && high <= hi;
          if (!reals || !zeros || !right) {
            std::ostringstream out;
            out.precision(17);
            out << name << (in_order ? " in order" : " any") << " fma " << static_cast<int>(rule.contraction) << " ftz " << static_cast<int>(rule.flush) << " line " << i << " of seed " << seed << " step "
                << t + 1 << " of " << steps << (has_init ? " with h_0" : "") << ": [" << lo << ", " << hi << "] flags " << static_cast<int>(flags) << ", exactly [" << low << ", " << high << "] flags "
                << static_cast<int>(own);
            return out.str();
          }
          // How much wider: the bound by what float64 adds; states that are exact on their grid are another rule's.
          const bool is_tiny = std::max(std::fabs(low), std::fabs(high)) < 0x1p-900;  // where float64 itself loses more
          if (Figures::Width* w = in_order || low == high || is_tiny ? nullptr : figures.width()) {
            const double ratio = count_values(f, lo, hi) / count_values(f, low, high);
            w->sum += ratio;
            ++w->count;
            w->largest = std::max(w->largest, ratio);
          }
        }
      }
    }
  }
  return {};
}

Found in_order(int effort, Figures& f) { return run(effort, 1, true, false, f); }
Found in_order_sets(int effort, Figures& f) { return run(effort, 2, true, true, f); }
Found bound(int effort, Figures& f) { return run(effort, 3, false, false, f); }
Found bound_sets(int effort, Figures& f) { return run(effort, 4, false, true, f); }

}  // namespace

const std::vector<Check>& scan_tile_checks() {
  static const std::vector<Check> all = {{"seq, tiles", in_order}, {"seq, tiles, sets", in_order_sets}, {"any, tiles", bound}, {"any, tiles, sets", bound_sets}};
  return all;
}

}  // namespace erx::test
