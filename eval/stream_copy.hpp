// Copies doubles past the caches: what a long loop writes and does not read again costs no reading of the lines that it replaces.
//   stream_copy(from, n, to);   end_of_stream();
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace erx {

inline void stream_copy(const double* from, std::size_t n, double* to) {
#if defined(__SSE2__)
  std::size_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(to + i) % 16 != 0; ++i) to[i] = from[i];
  for (; i + 2 <= n; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
  for (; i < n; ++i) to[i] = from[i];
#else
  std::copy_n(from, n, to);
#endif
}

/// Before another thread reads what was copied.
inline void end_of_stream() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace erx
