// What a sum fills, element by element from any thread. Where nothing is free, both ends are one array: the rare element that no
// tier decides is noted beside it, and gets its upper end when all are there.
//   SumPlane out(n, settles, is_point);   out.put(at, set);   Plane p = out.take();
#pragma once
#include <atomic>
#include <mutex>
#include <vector>

#include "eval/set_tensor.hpp"

namespace erx {

class SumPlane {
 public:
  /// `settled`: every end is one double. `is_point`: no element has freedom, so the upper end is the lower one.
  SumPlane(std::int64_t n, bool settled, bool is_point) : is_point_(is_point) {
    const auto array = [&] { return std::make_shared<Doubles>(static_cast<std::size_t>(n)); };
    plane_ = {array(), nullptr, nullptr, nullptr, nullptr};
    plane_.lo_u = settled ? plane_.lo_d : array();
    plane_.hi_u = is_point ? plane_.lo_u : array();
    plane_.hi_d = is_point ? plane_.lo_d : settled ? plane_.hi_u : array();
  }

  bool is_point() const { return is_point_; }
  /// The arrays, for loops that fill them in runs of elements without put.
  Plane& plane() { return plane_; }

  /// Of all elements, 0 where none has been put. Most sums have none: they are made when they are first asked for.
  std::uint8_t* flags() {
    std::call_once(once_, [&] {
      plane_.flags = std::make_shared<FlagBytes>(plane_.lo_d->size(), 0);
      has_flags_.store(true, std::memory_order_release);
    });
    return plane_.flags->data();
  }

  void put(std::int64_t at, double lo_d, double lo_u, double hi_d, double hi_u, std::uint8_t flags) {
    const auto i = static_cast<std::size_t>(at);
    (*plane_.lo_d)[i] = lo_d;
    (*plane_.lo_u)[i] = lo_u;
    if (flags != 0 || has_flags_.load(std::memory_order_acquire)) this->flags()[i] = flags;
    if (!is_point_) {
      (*plane_.hi_d)[i] = hi_d;
      (*plane_.hi_u)[i] = hi_u;
    } else if (hi_d != lo_d || hi_u != lo_u) {
      const std::lock_guard lock(mutex_);
      wide_.push_back({i, hi_d, hi_u});
    }
  }
  void put(std::int64_t at, const Set<F64>& s) {
    const F64 lo = s.has_reals() ? s.lo : F64{}, hi = !s.has_reals() || s.is_point ? lo : s.hi;
    put(at, lo.d, lo.u, hi.d, hi.u, s.flags);
  }

  /// The filled plane. An undecided element of a sum without freedom makes it one of intervals.
  Plane take() {
    if (!wide_.empty()) {
      const bool settled = plane_.lo_d == plane_.lo_u;
      plane_.hi_u = std::make_shared<Doubles>(*plane_.lo_u);
      plane_.hi_d = settled ? plane_.hi_u : std::make_shared<Doubles>(*plane_.lo_d);
      for (const Wide& w : wide_) {
        (*plane_.hi_d)[w.at] = w.hi_d;
        (*plane_.hi_u)[w.at] = w.hi_u;
      }
    }
    return std::move(plane_);
  }

 private:
  struct Wide {
    std::size_t at;
    double hi_d, hi_u;
  };
  Plane plane_;
  bool is_point_;
  std::once_flag once_;
  std::atomic<bool> has_flags_ = false;
  std::mutex mutex_;
  std::vector<Wide> wide_;
};

}  // namespace erx
