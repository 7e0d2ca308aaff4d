// The threads of this process that help through loops. A helper that has no processor yet is not waited for: the threads of another
// library (a BLAS, for a tenth of a second after each product) may spin on it, and a barrier would take a slice of the scheduler each time.
//   Crew::run(3, [&] { while (take(block)) work(block); }, [&] { look_for_signals(); });
#pragma once
#include <functional>

namespace erx {

class Crew {
 public:
  /// Calls `share` here and, as they come, in up to `helpers` threads; returns when all that came are done. `share` takes what is left of
  /// the work and does not throw. `idle` is called now and then while this thread waits for the others. Inside a share: here alone.
  static void run(int helpers, const std::function<void()>& share, const std::function<void()>& idle);

  /// A loop is near: helpers that sleep wake up meanwhile.
  static void expect();

  /// As many threads as this process has processors, or OMP_NUM_THREADS says, which users set for all numerical libraries.
  static int usual_threads();
};

}  // namespace erx
