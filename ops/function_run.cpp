#include "ops/function_run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ops/clones.hpp"
#include "ops/num/elementary.hpp"
#include "ops/stream_steps.hpp"

namespace erx {
namespace {

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::size_t look_ups = 128;
constexpr int most_precision = 32;  // the errors below seldom reach a midpoint of it

/// At most so many units in the last place of a double: a relative error of e is below e 2^53 of them.
inline std::uint64_t units_of(double bound) {
  const auto units = static_cast<std::uint64_t>(bound * 0x1p53) + 1;
  return planted(Mistake::error_unwatched) ? 0 : units;
}

// value(x); in(x, value): does `bound`, of its relative error, hold there?
#define ERX_RELATIVE(name, Name)                                                                             \
  struct Name {                                                                                            \
    static constexpr double bound = elementary::name##_bound;                                               \
    [[gnu::always_inline]] static bool in(double x, double) { return elementary::name##_domain(x); }           \
    [[gnu::always_inline]] static double value(double x) { return elementary::name##_value(x); }              \
  };
ERX_RELATIVE(exp, Exp) ERX_RELATIVE(exp2, Exp2) ERX_RELATIVE(expm1, Expm1) ERX_RELATIVE(log, Log) ERX_RELATIVE(log2, Log2) ERX_RELATIVE(log10, Log10)
ERX_RELATIVE(log1p, Log1p) ERX_RELATIVE(tanh, Tanh) ERX_RELATIVE(sigmoid, Sigmoid) ERX_RELATIVE(sqrt, Sqrt) ERX_RELATIVE(rsqrt, Rsqrt)
#undef ERX_RELATIVE

/// Looks two numbers up for each element, at index(key(x)): before the loop, since a vector of them gathered from a table costs as much as all the rest.
struct Erf {
  static constexpr double bound = elementary::erf_bound;
  const elementary::ErfTable& table = elementary::erf_table();
  [[gnu::always_inline]] static bool in(double x, double) { return elementary::erf_domain(x); }
  [[gnu::always_inline]] static double key(double x) { return elementary::erf_step(x); }
  [[gnu::always_inline]] static std::int64_t index(double key) { return elementary::erf_index(key); }
  [[gnu::always_inline]] static double value(double x, double key, double at_c, double slope) { return elementary::with_sign_of(x, elementary::erf_value(x, key, at_c, slope)); }
};
template <class F>
concept LooksUp = requires(const F& f) { f.table; };

template <int quarter>
struct Wave {
  static constexpr double bound = elementary::wave_bound;
  [[gnu::always_inline]] static bool in(double x, double value) { return elementary::both(elementary::wave_domain(x), elementary::wave_is_relative(x, value)); }
  [[gnu::always_inline]] static double value(double x) { return elementary::wave_value(x, quarter); }
};

struct LookedUp {
  alignas(64) double key[look_ups], pair[2 * look_ups];
};
template <LooksUp F, class T>
[[gnu::always_inline]] inline void look_up(const F& f, const T* in, LookedUp& found, std::size_t n) {
  std::int64_t index[look_ups];
  for (std::size_t i = 0; i < n; ++i) index[i] = F::index(found.key[i] = F::key(static_cast<double>(in[i])));
  for (std::size_t i = 0; i < n; ++i) std::memcpy(found.pair + 2 * i, f.table.at + index[i], 2 * sizeof(double));
}

/// Rounding by the bits of a double. No midpoint within the error: both ends round as the value does, to nearest. (Just below a power of two midpoints
/// lie twice as close, and still far beside the error.) Signs of differences say what is wrong.
template <class F, class T>
[[gnu::always_inline]] inline std::uint64_t function_step(const F& f, const T* in, double* out, std::size_t n, const DroppedBits& dropped, [[maybe_unused]] const LookedUp* found = nullptr) {
  static_assert(F::bound * 0x1p53 + 1 < (std::uint64_t{1} << (52 - most_precision)) / 16);
  const DroppedBits k = dropped;
  const std::uint64_t units = units_of(F::bound), watched = planted(Mistake::midpoint_unwatched) ? 0 : ~std::uint64_t{0};
  std::uint64_t wrong = 0;
  ERX_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(in[i]);
    double y;
    if constexpr (LooksUp<F>) y = F::value(x, found->key[i], found->pair[2 * i], found->pair[2 * i + 1]);
    else y = F::value(x);
    const std::uint64_t shifted = std::bit_cast<std::uint64_t>(y) + k.half, rounded = shifted & ~k.mask, size = rounded & ~sign_bit;
    out[i] = std::bit_cast<double>(rounded);
    const std::uint64_t past_midpoint = (shifted + units) & k.mask, near_midpoint = (past_midpoint - (2 * units + 1)) & watched;
    wrong |= near_midpoint | (k.most - size) | (size - k.least) | -static_cast<std::uint64_t>(!f.in(x, y));
  }
  return wrong & sign_bit;
}

/// At most look_ups elements where F looks up.
template <class F, class T>
[[gnu::always_inline]] inline std::uint64_t looked_up_step(const F& f, const T* in, double* out, std::size_t n, const DroppedBits& k) {
  if constexpr (LooksUp<F>) {
    LookedUp found;
    look_up(f, in, found, n);
    return function_step(f, in, out, n, k, &found);
  } else {
    return function_step(f, in, out, n, k);
  }
}

template <class F, class T>
[[gnu::always_inline]] inline bool plain_run(const T* in, double* out, std::size_t n, const DroppedBits& k) {
  const F f;
  std::uint64_t wrong = 0;
  const std::size_t step = LooksUp<F> ? look_ups : n;
  for (std::size_t i = 0; i < n; i += step) wrong |= looked_up_step(f, in + i, out + i, std::min(step, n - i), k);
  return wrong == 0;
}

#if defined(ERX_STREAMS)
static_assert(stream_step <= look_ups);
template <class F, class T>
struct FunctionStep {
  const F& function;
  const DroppedBits& dropped;
  std::uint64_t& wrong;
  [[gnu::always_inline]] void operator()(const T* in, double* out, std::size_t) const { wrong |= looked_up_step(function, in, out, stream_step, dropped); }
};
template <class F, class T>
[[ERX_AVX512, gnu::always_inline]] inline bool stream_run(const T* in, double* out, std::size_t n, const DroppedBits& of) {
  const DroppedBits k = of;
  const F function;
  std::uint64_t wrong = 0;
  stream_steps(in, out, n, FunctionStep<F, T>{function, k, wrong});
  return wrong == 0;
}
#define ERX_WIDE(name, F, T)                                                                                                              \
  [[ERX_AVX512]] bool wide_##name(const T* in, double* out, std::size_t n, const DroppedBits& k) { return plain_run<F>(in, out, n, k); }     \
  [[ERX_AVX512]] bool stream_##name(const T* in, double* out, std::size_t n, const DroppedBits& k) { return stream_run<F>(in, out, n, k); }
#define ERX_LOOPS(name) {name, wide_##name, stream_##name}
#else
#define ERX_WIDE(name, F, T)
#define ERX_LOOPS(name) {name, nullptr, nullptr}
#endif

#define ERX_RUN(name, F, T)                                                                                                                \
  ERX_VECTOR_CLONES bool name(const T* in, double* out, std::size_t n, const DroppedBits& k) { return plain_run<F>(in, out, n, k); }          \
  ERX_WIDE(name, F, T)
#define ERX_RUNS(name, F) ERX_RUN(name##_f64, F, double) ERX_RUN(name##_f32, F, float)
ERX_RUNS(exp, Exp) ERX_RUNS(exp2, Exp2) ERX_RUNS(expm1, Expm1) ERX_RUNS(log, Log) ERX_RUNS(log2, Log2) ERX_RUNS(log10, Log10) ERX_RUNS(log1p, Log1p)
ERX_RUNS(sin, Wave<0>) ERX_RUNS(cos, Wave<1>) ERX_RUNS(tanh, Tanh) ERX_RUNS(erf, Erf) ERX_RUNS(sigmoid, Sigmoid) ERX_RUNS(sqrt, Sqrt) ERX_RUNS(rsqrt, Rsqrt)

template <class T>
bool run(const FunctionRun::Loops<T>& loops, const BulkRounding& round, const T* in, double* out, std::size_t n, [[maybe_unused]] bool past_caches) {
  const int dropped = 53 - round.format().precision();
  const DroppedBits k{std::uint64_t{1} << (dropped - 1), (std::uint64_t{1} << dropped) - 1, std::bit_cast<std::uint64_t>(round.constants().least_power),
                      std::bit_cast<std::uint64_t>(round.constants().max_finite)};
  std::size_t first = 0;
#if defined(ERX_STREAMS)
  static const bool wide = chooses_avx512();
  if (wide) {
    first = n / stream_unit * stream_unit;
    const bool streams = past_caches && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
    if (!(streams ? loops.stream : loops.wide)(in, out, first, k)) return false;
  }
#endif
  return loops.plain(in + first, out + first, n - first, k);
}

}  // namespace

namespace lanes {
#define ERX_FUNCTION(name) const FunctionRun run_##name{ERX_LOOPS(name##_f64), ERX_LOOPS(name##_f32)};
ERX_FUNCTION(exp) ERX_FUNCTION(exp2) ERX_FUNCTION(expm1) ERX_FUNCTION(log) ERX_FUNCTION(log2) ERX_FUNCTION(log10) ERX_FUNCTION(log1p)
ERX_FUNCTION(sin) ERX_FUNCTION(cos) ERX_FUNCTION(tanh) ERX_FUNCTION(erf) ERX_FUNCTION(sigmoid) ERX_FUNCTION(sqrt) ERX_FUNCTION(rsqrt)
#undef ERX_FUNCTION
}  // namespace lanes

bool can_function_run(const BulkRounding& round) {
  return round.is_fast() && round.rounding().mode == Mode::rne && round.format().precision() <= most_precision && !rounds_freely(round.rounding());
}

bool function_run(const FunctionRun& f, const BulkRounding& round, const double* in, double* out, std::size_t n, bool past_caches) { return run(f.f64, round, in, out, n, past_caches); }
bool function_run(const FunctionRun& f, const BulkRounding& round, const float* in, double* out, std::size_t n, bool past_caches) { return run(f.f32, round, in, out, n, past_caches); }

}  // namespace erx
