// Sums in sequence by segments side by side against the same additions one by one, bit for bit.
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "eval/chain_ahead.hpp"
#include "tests/sum/checks.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;

enum Kind { gaussian, positive, uniform, alternating, growing, cancelling, grid, steep, subnormal, near_overflow, specials, zeros, kinds };
constexpr const char* kind_names[] = {"gaussian", "positive", "uniform", "alternating", "growing", "cancelling", "grid", "steep", "subnormal", "near overflow", "specials", "zeros"};

std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

template <class K>
struct Problem {
  using Number = typename K::Number;
  Number start;
  std::vector<double> leaves;

  Problem(const K& k, Kind kind, std::size_t n, std::mt19937_64& random) {
    const auto fit = [&](double x) { return static_cast<double>(k.add(static_cast<Number>(x), Number{0})); };
    const auto below = [&](std::uint64_t m) { return static_cast<std::int64_t>(random() % m); };
    const auto flip = [&](double x) { return random() % 2 ? x : -x; };
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit;
    const int precision = std::numeric_limits<Number>::digits - k.spare_bits();
    const double sign = flip(1), top = k.greatest_power(), least = k.least_power();
    // A start within a few places of a power of two, or anywhere in its binade; leaves of quarters of a place and more, with a drift.
    const double power = std::ldexp(1.0, static_cast<int>(below(9)) - 4), place = std::ldexp(power, 1 - precision);
    const double where[] = {power + place * static_cast<double>(below(9)), 2 * power - place * static_cast<double>(below(9)), power * (1 + unit(random)), power};
    start = static_cast<Number>(fit(sign * where[below(4)]));
    const double quarter = std::ldexp(place, static_cast<int>(below(static_cast<std::uint64_t>(precision))) / (random() % 2 ? 1 : 4) - 2), noise = std::ldexp(1.0, -static_cast<int>(below(20)));
    const std::int64_t reach = 1 + below(9), drift = below(3) - 1;
    const double slope = power * unit(random) / static_cast<double>(32 + below(225)), scale = std::ldexp(1.0, -static_cast<int>(below(12)));
    if (kind == subnormal) start = static_cast<Number>(fit(least * static_cast<double>(below(4))));
    if (kind == near_overflow) start = static_cast<Number>(fit(sign * top * unit(random)));
    if (kind != grid && random() % 4 == 0) start = Number{0};
    if (kind == specials && random() % 16 == 0) start = random() % 2 ? std::numeric_limits<Number>::infinity() : std::numeric_limits<Number>::quiet_NaN();
    leaves.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      double x = normal(random) * scale;
      switch (kind) {
        case positive: x = std::fabs(x); break;
        case uniform: x = unit(random) * scale; break;
        case alternating: x = (i % 2 ? 1 : -1) + noise * x; break;
        case growing: x = sign * std::pow(1.01, static_cast<double>(i % 3000)) * noise; break;
        case cancelling: x = i >= n / 2 && i < n / 2 * 2 ? -leaves[n / 2 * 2 - 1 - i] : x; break;
        case grid: x = quarter * static_cast<double>(below(static_cast<std::uint64_t>(2 * reach + 1)) - reach + (random() % 4 ? 0 : drift)); break;
        case steep: x = sign * slope * (unit(random) + 0.5); break;
        case subnormal: x *= least * 4; break;
        case near_overflow: x = flip(top * unit(random)) / 16; break;
        case specials: x = random() % 700 ? x : random() % 3 ? flip(INFINITY) : NAN; break;
        case zeros: x = random() % 8 ? flip(0.0) : x; break;
        default: break;
      }
      leaves[i] = std::isfinite(x) ? fit(x) : x;
    }
  }
};

template <class K>
Found one(const char* name, const K& k, std::uint64_t seed, Figures& figures) {
  using Number = typename K::Number;
  std::mt19937_64 random(seed);
  const Kind kind = static_cast<Kind>(random() % kinds);
  const std::size_t longest = random() % 64 ? 5001 : 60000, n = random() % (random() % 8 ? longest : 600);
  const Problem<K> p(k, kind, n, random);
  const std::int64_t step = random() % 2 ? 1 : -1, size = static_cast<std::int64_t>(n);
  const double* first = p.leaves.data() + (step < 0 && n > 0 ? size - 1 : 0);
  const Number expected = add_run(k, first, size, step, p.start);
  ChainSegments<K> chain(k);
  Number s = p.start;
  const std::int64_t part = random() % 2 ? size : 1 + static_cast<std::int64_t>(random() % 5000);
  for (std::int64_t done = 0; done < size; done += part) s = chain.add(first + done * step, std::min(part, size - done), step, s);
  ++figures.cases;
  figures.values += chain.in_segments();
  if (bits(s) == bits(expected) || (s != s && expected != expected)) return {};
  char text[300];
  std::snprintf(text, sizeof text, "%s, %s, %zu leaves in steps of %d, parts of %lld, from %a: %a, one by one %a, seed %llu", name, kind_names[kind], n, static_cast<int>(step),
                static_cast<long long>(part), static_cast<double>(p.start), static_cast<double>(s), static_cast<double>(expected), static_cast<unsigned long long>(seed));
  return text;
}

/// Enough windows for the second thread, which may or may not be in time.
template <class K>
Found ahead(const char* name, const K& k, std::uint64_t seed, Figures& figures) {
  std::mt19937_64 random(seed);
  const Kind kind = static_cast<Kind>(random() % kinds);
  const std::size_t n = 1 + random() % 200000;
  const Problem<K> p(k, kind, n, random);
  const std::int64_t step = random() % 2 ? 1 : -1, size = static_cast<std::int64_t>(n), first = step > 0 ? 0 : size - 1;
  const double* const x = p.leaves.data();
  const auto expected = add_run(k, x + first + step, size - 1, step, k.of(x[first]));
  EvaluateOptions options;
  options.threads = 2;
  const auto line = [&](std::int64_t from, std::int64_t) { return x + from; };
  const auto s = sequence_ahead(k, [&] { return ReadLine(line); }, first, size, step, options), alone = sequence(k, ReadLine(line), first, size, step);
  ++figures.cases;
  const auto same = [&](auto y) { return bits(y) == bits(expected) || (y != y && expected != expected); };
  if (same(s) && same(alone)) return {};
  char text[300];
  std::snprintf(text, sizeof text, "%s, %s, %zu leaves in steps of %d: %a on two threads, %a on one, one by one %a, seed %llu", name, kind_names[kind], n, static_cast<int>(step),
                static_cast<double>(s), static_cast<double>(alone), static_cast<double>(expected), static_cast<unsigned long long>(seed));
  return text;
}

Found all_ahead(int effort, Figures& figures) {
  const Rounded bf16(*find_format("bf16"));
  for (int i = 0; i < effort; ++i) {
    const std::uint64_t seed = 500000 + static_cast<std::uint64_t>(i);
    Found found = ahead("float", InFloat{}, seed, figures);
    if (!found) found = ahead("double", InDouble{}, seed, figures);
    if (!found && i % 4 == 0) found = ahead("bf16", bf16, seed, figures);
    if (found) return found;
  }
  return {};
}

Found all_chains(int effort, Figures& figures) {
  const Rounded bf16(*find_format("bf16")), f16(*find_format("f16")), f32(*find_format("f32")), e5m2(*find_format("f8e5m2")), narrow(make_format({.e = 6, .m = 5}));
  for (int i = 0; i < 40 * effort; ++i) {
    const std::uint64_t seed = 1000 + static_cast<std::uint64_t>(i);
    Found found = one("float", InFloat{}, seed, figures);
    if (!found) found = one("double", InDouble{}, seed, figures);
    if (!found && i % 4 == 0) found = one("bf16", bf16, seed, figures);
    if (!found && i % 4 == 1) found = one("f16", f16, seed, figures);
    if (!found && i % 4 == 2) found = one("f32, rounded", f32, seed, figures);
    if (!found && i % 8 == 3) found = one("e5m2", e5m2, seed, figures);
    if (!found && i % 8 == 7) found = one("6 bits", narrow, seed, figures);
    if (found) return found;
  }
  return {};
}

}  // namespace

const std::vector<Check>& chain_checks() {
  static const std::vector<Check> all = {{"sums in sequence, in segments", all_chains}, {"sums in sequence, on two threads", all_ahead}};
  return all;
}

}  // namespace erx::test
