// Large arrays that are not cleared before they are filled, on large pages where the system has them.
//   Doubles x(n);   elements are indeterminate until written
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace erx {

template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}

  T* allocate(std::size_t n) {
    constexpr std::size_t large_page = std::size_t{1} << 21;
    const std::size_t bytes = n * sizeof(T);
    if (bytes < 2 * large_page) return static_cast<T*>(::operator new(bytes));
    void* p = std::aligned_alloc(large_page, (bytes + large_page - 1) / large_page * large_page);
    if (!p) throw std::bad_alloc();
#if defined(__linux__)
    madvise(p, bytes, MADV_HUGEPAGE);  // only advice: page faults cost as much as the arithmetic otherwise
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) {
    if (n * sizeof(T) < (std::size_t{1} << 22)) ::operator delete(p);
    else std::free(p);
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
