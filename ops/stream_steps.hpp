// An array made from another one, a few elements at a time, past the caches: in four places in turn, since a processor writes to several places at
// once faster than to one. Only where `ERX_STREAMS` is defined; chooses_avx512() says whether the processor can.
//   [[ERX_AVX512]] Found stream(const float* in, double* out, std::size_t n) { stream_steps(in, out, n, Step{}); }
#pragma once
#include <cstddef>

#include "ops/clones.hpp"

#if defined(ERX_HAS_CLONES)
#include <immintrin.h>
#define ERX_STREAMS
#define ERX_AVX512 gnu::target("arch=x86-64-v4,prefer-vector-width=512")

namespace erx {

constexpr std::size_t stream_step = 128, stream_places = 4;
constexpr std::size_t stream_unit = stream_places * stream_step;

/// step(in, out, at): `stream_step` elements from `in`, which lies at index `at`. n: a multiple of stream_unit; out: at a multiple of 64 bytes.
template <class T, class Step>
[[ERX_AVX512, gnu::always_inline]] inline void stream_steps(const T* in, double* out, std::size_t n, const Step& step) {
  const std::size_t part = n / stream_places;
  for (std::size_t i = 0; i < part; i += stream_step)
    for (std::size_t s = 0; s < stream_places; ++s) {
      const std::size_t at = s * part + i;
      alignas(64) double made[stream_step];
      for (std::size_t line = 0; line < stream_step * sizeof(T); line += 64) __builtin_prefetch(reinterpret_cast<const char*>(in + at) + 512 + line);
      step(in + at, made, at);
      for (std::size_t j = 0; j < stream_step; j += 8) _mm512_stream_pd(out + at + j, _mm512_load_pd(made + j));
    }
}

}  // namespace erx
#endif
