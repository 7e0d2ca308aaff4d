// Copies doubles past the caches: what a long loop writes and does not read again costs no reading of the lines that it replaces.
//   stream_copy(from, n, to);   end_of_stream();
#pragma once
#include <cstddef>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace erx {

/// Whole lines of the cache at a time where the machine can: half lines cost a transfer each.
void stream_copy(const double* from, std::size_t n, double* to);

/// Before another thread reads what was copied.
inline void end_of_stream() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace erx
