#include "ops/stream_copy.hpp"

#include "ir/ieee.hpp"

#include <algorithm>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace erx {

#if defined(__SSE2__)

namespace {

/// Elements before the first of `to` that lies at a multiple of `bytes`.
std::size_t before(const double* to, std::size_t bytes, std::size_t n) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % bytes;
  return std::min(n, past == 0 ? 0 : (bytes - past) / sizeof(double));
}

void copy_16(const double* from, std::size_t n, double* to) {
  std::size_t i = before(to, 16, n);
  std::copy_n(from, i, to);
  for (; i + 2 <= n; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
  for (; i < n; ++i) to[i] = from[i];
}

#if defined(__GNUC__)
#define ERX_STREAM_64 1
__attribute__((target("avx512f"))) void copy_64(const double* from, std::size_t n, double* to) {
  std::size_t i = before(to, 64, n);
  std::copy_n(from, i, to);
  for (; i + 8 <= n; i += 8) _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
  for (; i < n; ++i) to[i] = from[i];
}
#endif

}  // namespace

void stream_copy(const double* from, std::size_t n, double* to) {
#if defined(ERX_STREAM_64)
  static const bool wide = __builtin_cpu_supports("avx512f");
  if (wide) return copy_64(from, n, to);
#endif
  copy_16(from, n, to);
}

#else

void stream_copy(const double* from, std::size_t n, double* to) { std::copy_n(from, n, to); }

#endif

}  // namespace erx
