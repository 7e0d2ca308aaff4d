#include "ops/round_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/clones.hpp"
#include "ops/num/set.hpp"
#include "ops/stream_steps.hpp"

namespace erx {
namespace {

/// What a loop needs of a rounding.
struct Rule {
  BulkConstants rounding;
  double overflow[2];         // of a positive, of a negative number; 0 where no number comes of it
  std::uint64_t flags[2];     // and these then

  explicit Rule(const BulkRounding& round) : rounding(round.constants()) {
    for (const int negative : {0, 1}) {
      const double v = rounding.overflow[negative];
      overflow[negative] = std::isfinite(v) ? v : 0;
      flags[negative] = flags_of(v);
    }
  }
};

struct Found {
  std::uint64_t overflow = 0, zero = 0, not_finite = 0;
};

constexpr std::size_t step = 32;

template <Mode mode, bool usual, class T>
[[gnu::always_inline]] inline void round_step(const T* in, double* out, std::size_t n, const Rule& rule, Found& found) {
  ERX_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t over;
    const double r = bulk::round_plain<mode, usual>(static_cast<double>(in[i]), rule.rounding, &over);
    out[i] = r;
    found.overflow |= over;
    found.zero |= static_cast<std::uint64_t>(r == 0);
  }
}

/// Of a step that round_step has done: what overflows. `wide`: flags, to be narrowed.
template <Mode mode, bool usual, class T>
[[gnu::always_inline]] inline void finish_overflow(const T* in, double* out, std::uint64_t* wide, std::size_t n, const Rule& rule, Found& found) {
  ERX_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t over;
    const double x = static_cast<double>(in[i]), r = bulk::round_plain<mode, usual>(x, rule.rounding, &over);
    const std::uint64_t negative = -(std::bit_cast<std::uint64_t>(r) >> 63);  // of the overflow, where there is one
    out[i] = bulk::choose(over, bulk::choose(negative, rule.overflow[1], rule.overflow[0]), r);
    wide[i] |= ((rule.flags[0] & ~negative) | (rule.flags[1] & negative)) & over;
    found.not_finite |= static_cast<std::uint64_t>(!(bulk::magnitude(x) < std::numeric_limits<double>::infinity()));
  }
}

template <Mode mode, bool usual, class T>
[[gnu::always_inline]] inline void flagged_step(const T* in, double* out, std::uint8_t* flags, std::size_t n, const Rule& rule, Found& found) {
  Found here;
  round_step<mode, usual>(in, out, n, rule, here);
  if (!(here.overflow | here.zero)) {
    std::memset(flags, 0, n);
    return;
  }
  std::uint64_t wide[step];  // narrowed apart: each loop has one width
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(out[i]);
    wide[i] = -static_cast<std::uint64_t>(bits << 1 == 0) & (has_pzero << (bits >> 63));
  }
  if (here.overflow) finish_overflow<mode, usual>(in, out, wide, n, rule, found);
  for (std::size_t i = 0; i < n; ++i) flags[i] = static_cast<std::uint8_t>(wide[i]);
}
static_assert(has_nzero == has_pzero << 1);

template <Mode mode, bool usual, bool flagged, class T>
[[gnu::always_inline]] inline Found round_all(const T* in, double* out, std::uint8_t* flags, std::size_t n, const Rule& of) {
  const Rule rule = of;
  Found found;
  if constexpr (flagged) {
    std::size_t i = 0;
    for (; i + step <= n; i += step) flagged_step<mode, usual>(in + i, out + i, flags + i, step, rule, found);
    flagged_step<mode, usual>(in + i, out + i, flags + i, n - i, rule, found);
  } else {
    round_step<mode, usual>(in, out, n, rule, found);
  }
  return found;
}

#if defined(ERX_STREAMS)
template <Mode mode, bool usual, bool flagged, class T>
struct RoundStep {
  const Rule& rule;
  std::uint8_t* flags;
  Found& found;
  [[gnu::always_inline]] void operator()(const T* in, double* out, std::size_t at) const {
    static_assert(stream_step % step == 0);
    if constexpr (flagged) {
      for (std::size_t i = 0; i < stream_step; i += step) flagged_step<mode, usual>(in + i, out + i, flags + at + i, step, rule, found);
    } else round_step<mode, usual>(in, out, stream_step, rule, found);
  }
};

template <Mode mode, bool usual, bool flagged, class T>
[[ERX_AVX512, gnu::always_inline]] inline Found stream_all(const T* in, double* out, std::uint8_t* flags, std::size_t n, const Rule& of) {
  const Rule rule = of;
  Found found;
  stream_steps(in, out, n, RoundStep<mode, usual, flagged, T>{rule, flags, found});
  return found;
}
#define ERX_STREAM(name, T, ...) \
  [[ERX_AVX512]] Found stream_##name(const T* in, double* out, std::uint8_t* flags, std::size_t n, const Rule& r) { return stream_all<__VA_ARGS__>(in, out, flags, n, r); }
#else
#define ERX_STREAM(name, T, ...)
#endif

#define ERX_RUN(name, T, ...)                                                                                              \
  ERX_VECTOR_CLONES Found run_##name(const T* in, double* out, std::uint8_t* flags, std::size_t n, const Rule& r) {           \
    return round_all<__VA_ARGS__>(in, out, flags, n, r);                                                                      \
  }                                                                                                                          \
  ERX_STREAM(name, T, __VA_ARGS__)
#define ERX_RUNS(mode, T)                                                                                              \
  ERX_RUN(mode, T, Mode::mode, true, false) ERX_RUN(flagged_##mode, T, Mode::mode, true, true)                            \
  ERX_RUN(unusual_##mode, T, Mode::mode, false, false) ERX_RUN(unusual_flagged_##mode, T, Mode::mode, false, true)
ERX_RUNS(rne, double) ERX_RUNS(rne, float)
ERX_RUNS(rna, double) ERX_RUNS(rna, float)
ERX_RUNS(rtz, double) ERX_RUNS(rtz, float)
ERX_RUNS(rtp, double) ERX_RUNS(rtp, float)
ERX_RUNS(rtn, double) ERX_RUNS(rtn, float)

template <class T>
using Run = Found (*)(const T*, double*, std::uint8_t*, std::size_t, const Rule&);

template <class T>
struct Loop {
  Run<T> run = nullptr, stream = nullptr;
};

#if defined(ERX_STREAMS)
#define ERX_LOOP(name) {run_##name, stream_##name}
#else
#define ERX_LOOP(name) {run_##name, nullptr}
#endif

template <class T>
Loop<T> loop_of(Mode mode, bool usual, bool flagged) {
#define ERX_CASE(mode)                                                                         \
  case Mode::mode:                                                                             \
    if (usual) return flagged ? Loop<T> ERX_LOOP(flagged_##mode) : Loop<T> ERX_LOOP(mode);        \
    return flagged ? Loop<T> ERX_LOOP(unusual_flagged_##mode) : Loop<T> ERX_LOOP(unusual_##mode);
  switch (mode) {
    ERX_CASE(rne)
    ERX_CASE(rna)
    ERX_CASE(rtz)
    ERX_CASE(rtp)
    ERX_CASE(rtn)
    default: return {};
  }
#undef ERX_CASE
}

template <class T>
Found run(const BulkRounding& round, const T* in, double* out, std::uint8_t* flags, std::size_t n, [[maybe_unused]] bool past_caches) {
  const Rule rule(round);
  const Loop<T> loop = loop_of<T>(round.rounding().mode, round.is_fast(), flags != nullptr);
  std::size_t first = 0;
  Found found;
#if defined(ERX_STREAMS)
  static const bool wide = chooses_avx512();
  if (past_caches && wide && reinterpret_cast<std::uintptr_t>(out) % 64 == 0) {
    first = n / stream_unit * stream_unit;
    found = loop.stream(in, out, flags, first, rule);
  }
#endif
  if (first < n) {
    const Found rest = loop.run(in + first, out + first, flags ? flags + first : nullptr, n - first, rule);
    found = {found.overflow | rest.overflow, found.zero | rest.zero, found.not_finite | rest.not_finite};
  }
  return found;
}

template <class T>
Decoded numbers(const BulkRounding& round, const T* in, double* out, std::size_t n, bool past_caches) {
  const Found found = run(round, in, out, nullptr, n, past_caches);
  return found.overflow ? Decoded::special : found.zero ? Decoded::numbers : Decoded::nonzero;
}

}  // namespace

bool can_round_run(const BulkRounding& round) { return (round.is_fast() || round.is_unusual()) && !rounds_freely(round.rounding()) && loop_of<double>(round.rounding().mode, true, false).run; }

Decoded round_run(const BulkRounding& round, const double* in, double* out, std::size_t n, bool past_caches) { return numbers(round, in, out, n, past_caches); }
Decoded round_run(const BulkRounding& round, const float* in, double* out, std::size_t n, bool past_caches) { return numbers(round, in, out, n, past_caches); }

bool round_run(const BulkRounding& round, const double* in, double* out, std::uint8_t* flags, std::size_t n, bool past_caches) {
  return !run(round, in, out, flags, n, past_caches).not_finite;
}
bool round_run(const BulkRounding& round, const float* in, double* out, std::uint8_t* flags, std::size_t n, bool past_caches) {
  return !run(round, in, out, flags, n, past_caches).not_finite;
}

}  // namespace erx
