#include "eval/cone_output.hpp"

#include <algorithm>

#include "ops/stream_copy.hpp"

namespace erx {

ConeOutput::ConeOutput(std::int64_t n, std::int64_t tile, bool settled)
    : n_(n), tile_(tile), settled_(settled), large_(n >= std::int64_t{1} << 18), has_upper_(static_cast<std::size_t>((n + tile - 1) / tile), 0) {
  plane_.lo_d = array();
  plane_.lo_u = settled ? plane_.lo_d : array();
}

void ConeOutput::copy(const double* from, std::int64_t count, Plane::Array& to, std::int64_t first) const {
  if (large_) stream_copy(from, static_cast<std::size_t>(count), to->data() + first);
  else std::copy(from, from + count, to->data() + first);
}

void ConeOutput::put(const Tile& t, std::int64_t first, std::int64_t count) {
  copy(t.lo_d, count, plane_.lo_d, first);
  if (!settled_) copy(t.lo_u, count, plane_.lo_u, first);
  if (!t.is_point) {
    std::call_once(upper_once_, [&] {
      plane_.hi_u = array();
      plane_.hi_d = settled_ ? plane_.hi_u : array();
      is_point_ = false;
    });
    copy(t.hi_u, count, plane_.hi_u, first);
    if (!settled_) copy(t.hi_d, count, plane_.hi_d, first);
    has_upper_[static_cast<std::size_t>(first / tile_)] = 1;
  }
  if (!t.plain) std::copy(t.flags, t.flags + count, flags(first));
}

std::uint8_t* ConeOutput::flags(std::int64_t first) {
  std::call_once(flags_once_, [&] { plane_.flags = std::make_shared<FlagBytes>(static_cast<std::size_t>(n_), 0); });
  return plane_.flags->data() + first;
}

void ConeOutput::end_of_block() const {
  if (large_) end_of_stream();
}

Plane ConeOutput::plane(const EvaluateOptions& options) {
  if (is_point_) {
    plane_.hi_d = plane_.lo_d;
    plane_.hi_u = plane_.lo_u;
    return std::move(plane_);
  }
  parallel_blocks(static_cast<std::int64_t>(has_upper_.size()), options, [&](std::int64_t k) {
    if (has_upper_[static_cast<std::size_t>(k)]) return;
    const std::int64_t first = k * tile_, count = std::min(tile_, n_ - first);
    std::copy_n(plane_.lo_u->data() + first, count, plane_.hi_u->data() + first);
    if (!settled_) std::copy_n(plane_.lo_d->data() + first, count, plane_.hi_d->data() + first);
  });
  return std::move(plane_);
}

}  // namespace erx
