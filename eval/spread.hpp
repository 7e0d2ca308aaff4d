// Threads of one loop on processors of their own. While another library's thread spins on the second of two processors (a BLAS does
// for a tenth of a second after each product), the system wakes both of ours on the first and leaves them there.
//   Spread spread;   in each thread: spread.take_place();
#pragma once
#include <atomic>
#include <cstdint>

#if defined(__linux__)
#include <sched.h>
#endif

namespace erx {

class Spread {
 public:
  /// Moves the calling thread to a processor that no other thread of this loop has; it stays free to move.
  void take_place() {
#if defined(__linux__)
    const int here = sched_getcpu();
    if (here < 0 || here >= 64) return;
    const std::uint64_t before = taken_.fetch_or(std::uint64_t{1} << here);
    if (!(before >> here & 1)) return;
    cpu_set_t allowed, free;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    CPU_ZERO(&free);
    for (int cpu = 0; cpu < 64; ++cpu)
      if (CPU_ISSET(cpu, &allowed) && !(before >> cpu & 1)) CPU_SET(cpu, &free);
    if (CPU_COUNT(&free) == 0 || sched_setaffinity(0, sizeof free, &free) != 0) return;
    const int there = sched_getcpu();
    if (there >= 0 && there < 64) taken_.fetch_or(std::uint64_t{1} << there);
    sched_setaffinity(0, sizeof allowed, &allowed);
#endif
  }

 private:
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace erx
