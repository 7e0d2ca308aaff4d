#include "bindings/session.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>

namespace erx {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) { interrupted.store(true, std::memory_order_relaxed); }

using Clock = std::chrono::steady_clock;

}  // namespace

struct Session::State {
  EvaluationArguments arguments;
  struct sigaction before = {};
  bool terminal = false;
  std::mutex mutex;  // progress may be told from several threads
  Clock::time_point begin = Clock::now(), last = begin;
  bool shown = false;

  void show(double fraction) {
    const std::lock_guard lock(mutex);
    const auto now = Clock::now();
    // Short work stays silent, and a terminal needs no more than a few lines a second.
    if (now - begin < std::chrono::seconds(1) || now - last < std::chrono::milliseconds(200)) return;
    last = now;
    shown = true;
    std::fprintf(stderr, "\r%3.0f %%", 100 * fraction);
    std::fflush(stderr);
  }
};

Session::Session(const EvaluationArguments& arguments) : state_(std::make_unique<State>()) {
  state_->arguments = arguments;
  state_->terminal = arguments.progress && ::isatty(STDERR_FILENO);
  interrupted = false;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second signal meets the default: the end
  ::sigaction(SIGINT, &action, &state_->before);
}

Session::~Session() {
  clear();
  ::sigaction(SIGINT, &state_->before, nullptr);
}

EvaluateOptions Session::options() const {
  EvaluateOptions options;
  options.threads = state_->arguments.threads;
  options.stop = &interrupted;
  if (state_->terminal) {
    options.progress = [](double fraction, void* state) { static_cast<State*>(state)->show(fraction); };
    options.progress_data = state_.get();
  }
  return options;
}

void Session::clear() {
  if (state_->shown) std::fputs("\r\033[K", stderr);
  state_->shown = false;
}

}  // namespace erx
