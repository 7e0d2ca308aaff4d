// Long work of a Python thread without the GIL, which a signal handler that raises (Ctrl-C) ends.
//   SignalWatch watch;   return watch.over([&] { return evaluate(options); });   with options.poll = SignalWatch::poll
#pragma once
#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include "eval/evaluate.hpp"

namespace erx {

class SignalWatch {
 public:
  SignalWatch() : before_(current_) { current_ = this; }
  ~SignalWatch() { current_ = before_; }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// `work` without the GIL. Once a handler has raised, that exception is thrown, whatever `work` did.
  template <class Work>
  auto over(const Work& work) -> decltype(work()) {
    try {
      const pybind11::gil_scoped_release unlocked;
      auto value = work();
      if (!raised_) return value;
    } catch (const Interrupted&) {
      if (!raised_) throw;
    }
    throw std::move(*raised_);
  }

  /// From now on, `stop` becomes true with the signal: it ends what other threads do of the work.
  void stops(std::atomic<bool>& stop) { stop_ = &stop; }

  /// Called by the work between its steps; only in the thread that watches it does something. Throws Interrupted.
  static void poll() {
    if (current_) current_->look();
  }

 private:
  static constexpr long pause = 40;  // milliseconds

  /// Milliseconds, as coarse as the system counts them: between steps that take less than a precise clock does.
  static long now() {
#if defined(CLOCK_MONOTONIC_COARSE)
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return static_cast<long>(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
#else
    return static_cast<long>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1));
#endif
  }

  void look() {
    if (now() < next_) return;
    if (!raised_) {
      const pybind11::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) raised_.emplace();
    }
    next_ = now() + pause;
    if (!raised_) return;
    if (stop_) *stop_ = true;
    throw Interrupted{};
  }

  inline static thread_local SignalWatch* current_ = nullptr;
  SignalWatch* before_;
  long next_ = now() + pause;
  std::atomic<bool>* stop_ = nullptr;
  std::optional<pybind11::error_already_set> raised_;
};

}  // namespace erx
