// The thread that works for one caller, kept for its next call: the threads that share loops with it stay too, each on its core.
//   Worker::of_this_thread([] { long_work(); });   returns at once; the work says itself when it is done
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <unistd.h>

namespace erx {

class Worker {
 public:
  /// Runs `task` on the caller's worker, or on a thread of its own where the worker is busy (a signal handler called in between).
  /// A process made by fork has no threads but one: it gets a worker of its own.
  static void of_this_thread(std::function<void()> task) {
    thread_local Owner owner;
    if (!owner.state || owner.process != getpid()) {
      owner.abandon();
      owner.state = std::make_shared<State>();
      owner.process = getpid();
      std::thread([state = owner.state] { serve(*state); }).detach();
    }
    {
      const std::lock_guard lock(owner.state->mutex);
      if (!owner.state->task && !owner.state->busy) {
        owner.state->task = std::move(task);
        owner.state->wake.notify_one();
        return;
      }
    }
    std::thread(std::move(task)).detach();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable wake;
    std::function<void()> task;
    bool busy = false, over = false;
  };
  struct Owner {
    std::shared_ptr<State> state;
    pid_t process = 0;

    /// What was copied by fork may be locked for ever: it is left as it is.
    void abandon() {
      if (state) new std::shared_ptr<State>(std::move(state));
      state = nullptr;
    }
    ~Owner() {
      if (!state) return;
      if (process != getpid()) {
        abandon();
        return;
      }
      const std::lock_guard lock(state->mutex);
      state->over = true;
      state->wake.notify_one();
    }
  };

  static void serve(State& state) {
    std::unique_lock lock(state.mutex);
    while (true) {
      state.wake.wait(lock, [&] { return state.over || state.task; });
      if (!state.task) return;
      std::function<void()> task = std::exchange(state.task, nullptr);
      state.busy = true;
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
      state.busy = false;
    }
  }
};

}  // namespace erx
