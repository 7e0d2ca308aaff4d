// Loops compiled once for each instruction set and chosen when the program starts. Sanitizers do not get along with that.
// ERX_INDEPENDENT in front of a loop: what its steps write, no other step reads. Clang finds out when the loop runs.
// ERX_ISA_BASELINE and ERX_ISA_AVX2 force one path: the tests compare the sets of programs that are built so.
//   ERX_VECTOR_CLONES void scale(double* x, std::size_t n) { ... }
#pragma once

#include "ir/ieee.hpp"

#if defined(ERX_ISA_BASELINE)
#define ERX_VECTOR_CLONES
#elif defined(ERX_ISA_AVX2)
#define ERX_VECTOR_CLONES __attribute__((target("arch=x86-64-v3")))
#elif defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ERX_HAS_CLONES
#define ERX_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ERX_VECTOR_CLONES
#endif

namespace erx {

/// Which code a loop with clones runs here: for what is laid out by the width of vectors, or is slow without FMA.
inline bool chooses_avx512() {
#ifdef ERX_HAS_CLONES
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}
inline bool chooses_fma() {
#if defined(ERX_ISA_AVX2) || defined(__FMA__) || defined(__aarch64__)
  return true;
#elif defined(ERX_HAS_CLONES)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace erx

#if defined(__GNUC__) && !defined(__clang__)
#define ERX_INDEPENDENT _Pragma("GCC ivdep")
#else
#define ERX_INDEPENDENT
#endif
