#include "eval/crew.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

namespace erx {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than waking takes, shorter than anybody notices.
constexpr auto patience = std::chrono::microseconds(300);

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

template <class Condition>
bool spin_until(const Condition& condition) {
  const auto end = Clock::now() + patience;
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition()) return true;
      relax();
    }
  } while (Clock::now() < end);
  return false;
}

/// A loop that helpers may join.
struct Loop {
  const std::function<void()>* share;
  int seats;
  std::atomic<int> inside{0};
};

thread_local bool in_share = false;

struct Share {
  explicit Share(const std::function<void()>& share) {
    in_share = true;
    share();
    in_share = false;
  }
};

struct Threads {
  std::mutex mutex;
  std::condition_variable wake, left;
  std::vector<Loop*> loops;
  std::atomic<unsigned> news{0};
  int helpers = 0, processors = 1;

  Loop* open_loop() {
    const auto found = std::find_if(loops.begin(), loops.end(), [](const Loop* l) { return l->seats > 0; });
    return found == loops.end() ? nullptr : *found;
  }

  void help() {
    std::unique_lock lock(mutex);
    while (true) {
      unsigned seen = news;
      if (!open_loop() && helpers < processors) {  // the next loop is often near
        lock.unlock();
        const bool heard = spin_until([&] { return news != seen; });
        lock.lock();
        if (heard && !open_loop()) continue;
        seen = news;
      }
      wake.wait(lock, [&] { return open_loop() != nullptr || news != seen; });
      if (!open_loop()) continue;
      Loop& loop = *open_loop();
      --loop.seats;
      ++loop.inside;
      lock.unlock();
      Share{*loop.share};
      lock.lock();
      if (--loop.inside == 0) left.notify_all();
    }
  }

  void expect() {
    const std::lock_guard lock(mutex);
    ++news;
    wake.notify_all();
  }

  void run(int seats, const std::function<void()>& share, const std::function<void()>& idle) {
    Loop loop{&share, seats};
    {
      const std::lock_guard lock(mutex);
      try {
        for (; helpers < seats; ++helpers) std::thread([this] { help(); }).detach();
      } catch (const std::system_error&) {
        // No more threads to be had: those that there are do the work.
      }
      loops.push_back(&loop);
      ++news;
    }
    if (seats == 1) wake.notify_one();
    else wake.notify_all();
    Share{share};
    std::unique_lock lock(mutex);
    loops.erase(std::find(loops.begin(), loops.end(), &loop));  // whoever comes now comes too late
    lock.unlock();
    spin_until([&] { return loop.inside == 0; });
    lock.lock();
    while (!left.wait_for(lock, std::chrono::milliseconds(10), [&] { return loop.inside == 0; })) {
      lock.unlock();
      idle();
      lock.lock();
    }
  }
};

/// Asked once: the system answers from a file, which takes longer than a small loop.
int processors() {
  static const int n = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return n;
}

/// A process made by fork has no threads but one, and locks that may be taken for ever: it starts anew, and what it had copied is left.
Threads& threads_of_this_process() {
  static std::mutex mutex;
  static std::atomic<Threads*> threads = nullptr;
  static std::atomic<pid_t> process = 0;
  if (process == getpid()) return *threads;
  const std::lock_guard lock(mutex);
  if (process != getpid()) {
    auto* fresh = new Threads;
    fresh->processors = processors();
    threads = fresh;
    process = getpid();
  }
  return *threads;
}

}  // namespace

void Crew::run(int helpers, const std::function<void()>& share, const std::function<void()>& idle) {
  if (helpers <= 0 || in_share) {
    share();
    return;
  }
  threads_of_this_process().run(helpers, share, idle);
}

void Crew::expect() {
  if (!in_share) threads_of_this_process().expect();
}

int Crew::usual_threads() {
  const char* wish = std::getenv("OMP_NUM_THREADS");
  const int wished = wish ? std::atoi(wish) : 0;
  return wished > 0 ? wished : processors();
}

}  // namespace erx
