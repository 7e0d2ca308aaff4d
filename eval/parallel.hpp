// A loop over independent blocks on all cores. Exceptions and Ctrl-C leave the loop at the next block.
//   parallel_blocks(count, options, [&](std::int64_t block) { ... });
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "eval/crew.hpp"
#include "eval/evaluate.hpp"
#include "eval/float_guard.hpp"
#include "eval/spread.hpp"

namespace erx {

inline int thread_count(const EvaluateOptions& options) { return options.threads > 0 ? options.threads : Crew::usual_threads(); }

inline void stop_if_asked(const EvaluateOptions& options) {
  if (options.poll) options.poll();
  if (options.stop && options.stop->load(std::memory_order_relaxed)) throw Interrupted{};
}

/// Calls body(block) once for each block in [0, count).
template <class Body>
void parallel_blocks(std::int64_t count, const EvaluateOptions& options, const Body& body) {
  std::exception_ptr failure;
  std::mutex mutex;
  std::atomic<bool> abandon{false};
  std::atomic<std::int64_t> next{0}, done{0};
  const auto keep_failure = [&] {
    abandon = true;
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
  };
  const int threads = static_cast<int>(std::min<std::int64_t>(thread_count(options), std::max<std::int64_t>(count, 1)));
  Spread spread;
  const auto share = [&] {
    try {
      if (threads > 1) spread.take_place();
      FloatGuard guard;
      for (std::int64_t block = next++; block < count && !abandon.load(std::memory_order_relaxed); block = next++) {
        stop_if_asked(options);
        body(block);
        // The share of this loop that is done: what is still to come is not known.
        if (options.progress) options.progress(static_cast<double>(++done) / static_cast<double>(count), options.progress_data);
      }
    } catch (...) {
      keep_failure();
    }
  };
  const auto idle = [&] {
    try {
      stop_if_asked(options);
    } catch (...) {
      keep_failure();
    }
  };
  Crew::run(threads - 1, share, idle);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace erx
