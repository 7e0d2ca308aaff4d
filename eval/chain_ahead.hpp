// One long sum in sequence on two threads: every other window of its leaves is run as segments before the sum gets there, for the binade
// in which it is now. Where it is still in that binade then, they are joined, else their leaves are added here. Bit for bit `sequence`.
//   sequence_ahead(k, readers, 0, n, 1, options)
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

#include "eval/line_order.hpp"

namespace erx {

constexpr std::int64_t least_ahead = 64 * window;  // leaves that are worth it

/// What the second thread has run, for the first: windows 1, 3, 5 .. of a sum, not always all.
template <class K>
class ChainAhead {
 public:
  using Number = typename K::Number;
  static_assert(window == Chains<Number>::lanes * Chains<Number>::longest);

  ChainAhead(const K& k, std::int64_t first, std::int64_t leaves, std::int64_t step) : chain_(k), first_(first), windows_(leaves / window), step_(step) {}

  /// Of the second thread, until the first has finished.
  void run(const ReadLine& line, const EvaluateOptions& options) {
    for (std::int64_t next = 1; !finished_.load(std::memory_order_relaxed); stop_if_asked(options)) {
      const std::int64_t now = position_.load(std::memory_order_acquire);
      next = std::max(next, now + 1 + now % 2);
      if (next >= windows_) return;
      const Number near = near_.load(std::memory_order_relaxed);
      if (near == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));  // one by one: this thread would only be in the way
        continue;
      }
      if (next > now + farthest) {
        std::this_thread::yield();
        continue;
      }
      begun_.store(next);
      Slot& slot = slots_[next / 2 % slots];
      const double* const low = line(step_ > 0 ? first_ + next * window : first_ - next * window - (window - 1), window);
      chain_.run(step_ > 0 ? low : low + (window - 1), window / Chains<Number>::lanes, step_, near, slot.chains);
      slot.ready.store(next, std::memory_order_release);
      next += 2;
    }
  }

  /// Of the first: the sum stands at `s` before window w. The chains of that window, or null. `useful`: of later ones too.
  const Chains<Number>* find(std::int64_t w, Number s, bool useful) {
    near_.store(useful ? s : 0, std::memory_order_relaxed);
    position_.store(w, std::memory_order_release);
    if (w % 2 == 0) return nullptr;
    const Slot& slot = slots_[w / 2 % slots];
    // What has begun is soon there, unless its thread lost its processor.
    for (int i = 0; i < patience && begun_.load() == w && slot.ready.load(std::memory_order_relaxed) != w; ++i) {
    }
    return slot.ready.load(std::memory_order_acquire) == w && chain_.fits(slot.chains, s) ? &slot.chains : nullptr;
  }

  /// The second thread stops where this goes.
  struct Finish {
    ChainAhead& ahead;
    ~Finish() { ahead.finished_.store(true, std::memory_order_relaxed); }
  };

 private:
  static constexpr std::int64_t slots = 4;  // more than are run ahead
  static constexpr std::int64_t farthest = 3;  // windows ahead: the sum may be in another binade there
  static constexpr int patience = 1 << 14;
  struct alignas(64) Slot {
    std::atomic<std::int64_t> ready{-1};
    Chains<Number> chains;
  };
  const ChainSegments<K> chain_;
  const std::int64_t first_, windows_, step_;  // of whole windows
  Slot slots_[slots];
  alignas(64) std::atomic<std::int64_t> position_{0};
  std::atomic<Number> near_{};
  std::atomic<bool> finished_{false};
  alignas(64) std::atomic<std::int64_t> begun_{-1};
};

template <class K>
typename K::Number sequence_ahead(const K& k, const std::function<ReadLine()>& reader, std::int64_t first, std::int64_t leaves, std::int64_t step,
                                  const EvaluateOptions& options) {
  using Number = typename K::Number;
  ChainAhead<K> ahead(k, first, leaves, step);
  Number sum{};
  const auto add_all = [&] {
    const typename ChainAhead<K>::Finish finish{ahead};
    const ReadLine line = reader();
    ChainSegments<K> chain(k);
    // The leaves from `done` on, in their direction.
    const auto read = [&](std::int64_t done, std::int64_t n) {
      return step > 0 ? line(first + done, n) : line(first - done - (n - 1), n) + (n - 1);
    };
    sum = k.of(*read(0, 1));
    for (std::int64_t done = 1, w = 0; done < leaves; ++w) {
      const std::int64_t end = std::min(leaves, (w + 1) * window);
      std::int64_t joined = 0;
      if (const Chains<Number>* chains = ahead.find(w, sum, !chain.rests()))
        sum = chain.join(*chains, step, [&](std::int64_t at, std::int64_t n) { return read(done + at, n); }, sum, joined);
      done += joined;
      if (done < end) sum = chain.add(read(done, end - done), end - done, step, sum);
      done = end;
    }
  };
  parallel_blocks(2, options, [&](std::int64_t task) {
    if (task == 0) add_all();
    else ahead.run(reader(), options);
  });
  return sum;
}

}  // namespace erx
