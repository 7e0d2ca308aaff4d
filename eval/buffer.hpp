// Large arrays that are not cleared before they are filled, on large pages where the system has them.
//   Doubles x(n);   elements are indeterminate until written
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace erx {

/// Large blocks that were given back, for the next array of that size: the system clears every page it hands out, which for
/// a product of 1024 x 1024 costs half as much as the product. Holds at most 256 MiB, the latest.
class FreeBlocks {
 public:
  static FreeBlocks& instance() {
    static FreeBlocks& blocks = *new FreeBlocks;  // never destroyed: a thread may still give back arrays while the process ends
    return blocks;
  }
  FreeBlocks() = default;
  FreeBlocks(const FreeBlocks&) = delete;

  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (std::size_t k = blocks_.size(); k-- > 0;) {
      if (blocks_[k].bytes != bytes) continue;
      void* data = blocks_[k].data;
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(k));
      held_ -= bytes;
      return data;
    }
    return nullptr;
  }

  /// returns: false if it is the caller's to free.
  bool keep(void* data, std::size_t bytes) noexcept {
    constexpr std::size_t limit = std::size_t{256} << 20;
    if (bytes > limit) return false;
    const std::lock_guard lock(mutex_);
    while (held_ + bytes > limit || blocks_.size() == blocks_.capacity()) {
      std::free(blocks_.front().data);
      held_ -= blocks_.front().bytes;
      blocks_.erase(blocks_.begin());
    }
    blocks_.push_back({data, bytes});
    held_ += bytes;
    return true;
  }

 private:
  struct Block {
    void* data;
    std::size_t bytes;
  };
  std::mutex mutex_;
  std::vector<Block> blocks_ = [] {
    std::vector<Block> room;
    room.reserve(128);
    return room;
  }();
  std::size_t held_ = 0;
};

template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}

  static constexpr std::align_val_t line{64};  // of the cache: vectors are read without crossing one
  static constexpr std::size_t large_page = std::size_t{1} << 21, page = std::size_t{1} << 14;
  static bool is_kept(std::size_t n) { return n * sizeof(T) >= 4 * page; }  // below, the C library keeps it
  static bool is_large(std::size_t n) { return n * sizeof(T) >= large_page / 4; }
  static std::size_t rounded(std::size_t n) {
    const std::size_t unit = is_large(n) ? large_page : page;
    return (n * sizeof(T) + unit - 1) / unit * unit;
  }

  T* allocate(std::size_t n) {
    if (!is_kept(n)) return static_cast<T*>(::operator new(n * sizeof(T), line));
    const std::size_t bytes = rounded(n);
    if (void* kept = FreeBlocks::instance().take(bytes)) return static_cast<T*>(kept);
    void* p = std::aligned_alloc(is_large(n) ? large_page : page, bytes);
    if (!p) throw std::bad_alloc();
#if defined(__linux__)
    if (is_large(n)) madvise(p, bytes, MADV_HUGEPAGE);  // only advice
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) noexcept {
    if (!is_kept(n)) return ::operator delete(p, line);
    if (!FreeBlocks::instance().keep(p, rounded(n))) std::free(p);
  }
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;  // default, not zero
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(static_cast<Args&&>(args)...);
  }
  bool operator==(const PageAllocator&) const { return true; }
};

using Doubles = std::vector<double, PageAllocator<double>>;
using FlagBytes = std::vector<std::uint8_t, PageAllocator<std::uint8_t>>;

}  // namespace erx
