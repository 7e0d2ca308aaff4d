// Long work for Python: runs without the GIL while the calling thread keeps answering Ctrl-C.
//   auto report = interruptible([&](const std::atomic<bool>& stop) { return check(...); }, [&] { flag = true; });
#pragma once
#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "bindings/worker.hpp"

namespace erx {

/// Once a signal handler has raised, `stop` is true, `cancel()` has been called, and that exception is thrown, whatever `work` did.
template <class Work, class Cancel>
auto interruptible(Work work, Cancel cancel) {
  using Value = decltype(work(std::declval<const std::atomic<bool>&>()));
  std::atomic<bool> stop = false;
  std::optional<Value> value;
  std::exception_ptr failure;
  struct End {
    std::mutex mutex;
    std::condition_variable ready;
    bool done = false;
  };
  const auto end = std::make_shared<End>();  // the worker still holds it when the caller goes on
  std::optional<pybind11::error_already_set> raised;
  {
    const pybind11::gil_scoped_release unlocked;
    Worker::of_this_thread([&, end] {
      try {
        value.emplace(work(stop));
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(end->mutex);
      end->done = true;
      end->ready.notify_one();
    });
    std::unique_lock lock(end->mutex);
    while (!end->ready.wait_for(lock, std::chrono::milliseconds(50), [&] { return end->done; })) {
      if (raised) continue;
      lock.unlock();
      {
        const pybind11::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) {
          raised.emplace();
          stop = true;
          cancel();
        }
      }
      lock.lock();
    }
  }
  if (raised) throw std::move(*raised);
  if (failure) std::rethrow_exception(failure);
  return std::move(*value);
}

}  // namespace erx
