#include "eval/packed_lines.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ir/ieee.hpp"
#include "ops/num/set.hpp"
#include "ops/tile_product.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t piece = 512;                     // terms of eight lines at a time, where they are decoded first or some lines are missing
constexpr std::int64_t strip = 10 * most_tile_columns;  // lines side by side at a time, where they are decoded first
constexpr std::int64_t room = 8 * piece;
constexpr std::int64_t terms_at_a_time = 16;            // of lines side by side: what is read of memory stays in the first cache

constexpr Elements doubles{};

const std::byte* bytes_of(const double* x) { return reinterpret_cast<const std::byte*>(x); }

}  // namespace

OperandLines::Raw OperandLines::raw() const {
  if (values) return {doubles, bytes_of(values)};
  const auto elements = tensor->elements();
  if (!elements || (elements->kind != Elements::Kind::f64 && !widens_and_packs())) return {};
  return {*elements, tensor->data};
}

PackedLines::PackedLines(std::int64_t lines, std::int64_t depth, std::int64_t most) : lines_(lines), depth_(depth) {
  const std::int64_t vectors = (lines + 7) / 8;
  groups_ = (8 * vectors + most - 1) / most;
  vectors_ = vectors / groups_;
  wider_ = vectors % groups_;
  data_.resize(static_cast<std::size_t>(padded() * depth));
  profile_.norm.resize(static_cast<std::size_t>(padded()));
  profile_.grid.resize(static_cast<std::size_t>(padded()));
}

std::int64_t PackedLines::group_of(std::int64_t line) const {
  const std::int64_t in_wider = 8 * wider_ * (vectors_ + 1);
  return line < in_wider ? line / (8 * (vectors_ + 1)) : wider_ + (line - in_wider) / (8 * vectors_);
}

void PackedLines::pack(const OperandLines& x, std::int64_t at, std::int64_t from, std::int64_t to) {
  const std::int64_t start = first(from), end = std::min(first(to), lines_);
  std::fill(profile_.norm.begin() + start, profile_.norm.begin() + first(to), 0.0);
  std::fill(profile_.grid.begin() + start, profile_.grid.begin() + first(to), infinity);
  if (x.term == 1) pack_along(x, at, from, to);
  else pack_across(x, at, from, to);
  for (std::int64_t l = start; l < end; ++l) {
    double& norm = profile_.norm[static_cast<std::size_t>(l)];
    norm = norm_of(norm, depth_);
    std::uint8_t special = 0;
    for (std::int64_t k = 0; x.flags && k < depth_; ++k) special |= x.flags[at + l * x.line + k * x.term] & ~any_zero;
    if (special) norm = infinity;
  }
}

/// The terms of a line lie side by side.
void PackedLines::pack_along(const OperandLines& x, std::int64_t at, std::int64_t from, std::int64_t to) {
  static constexpr std::byte zeros[piece * sizeof(double)] = {};
  alignas(64) double buffer[room];
  const OperandLines::Raw raw = x.raw();
  const std::int64_t size = raw.elements.bytes();
  for (std::int64_t g = from; g < to; ++g) {
    const std::int64_t columns = width(g);
    for (std::int64_t l = first(g); l < first(g) + columns; l += 8) {
      const std::int64_t count = std::clamp<std::int64_t>(lines_ - l, 0, 8), together = raw.data && count == 8 ? depth_ : piece;
      for (std::int64_t k = 0; k < depth_; k += together) {
        const std::int64_t n = std::min(together, depth_ - k), start = at + l * x.line + k;
        if (!raw.data && x.line == n && count > 0) {  // lines that follow on one another
          x.tensor->decode(start, count * n, buffer);
        } else if (!raw.data) {
          for (std::int64_t i = 0; i < count; ++i) x.tensor->decode(start + i * x.line, n, buffer + i * n);
        }
        const std::byte* lines[8];
        for (std::int64_t i = 0; i < 8; ++i) lines[i] = i >= count ? zeros : raw.data ? raw.data + (start + i * x.line) * size : bytes_of(buffer + i * n);
        erx::pack_along(raw.elements, lines, n, place(g) + (l - first(g)) + k * columns, columns, profile_.norm.data() + l, profile_.grid.data() + l);
      }
    }
  }
}

/// Lines side by side, term by term: `stride` bytes from one term to the next, `n` of the lines of groups [from, to).
void PackedLines::pack_terms(const Elements& elements, const std::byte* x, std::int64_t stride, std::int64_t n, std::int64_t k, std::int64_t terms, std::int64_t from, std::int64_t to) {
  const std::int64_t size = elements.bytes();
  for (std::int64_t t = 0; t < terms; t += terms_at_a_time) {
    const std::int64_t some = std::min(terms_at_a_time, terms - t);
    for (std::int64_t g = from; g < to; ++g) {
      const std::int64_t columns = width(g), offset = first(g) - first(from), present = std::clamp<std::int64_t>(n - offset, 0, columns);
      const std::byte* in = x + t * stride + offset * size;
      std::int64_t in_stride = stride;
      std::byte padded[terms_at_a_time * most_tile_columns * sizeof(double)];
      if (present < columns) {
        std::memset(padded, 0, sizeof padded);
        for (std::int64_t i = 0; present > 0 && i < some; ++i) std::memcpy(padded + i * columns * size, in + i * stride, static_cast<std::size_t>(present * size));
        in = padded;
        in_stride = columns * size;
      }
      erx::pack_across(elements, in, in_stride, some, place(g) + (k + t) * columns, columns, profile_.norm.data() + first(g), profile_.grid.data() + first(g));
    }
  }
}

void PackedLines::pack_across(const OperandLines& x, std::int64_t at, std::int64_t from, std::int64_t to) {
  const OperandLines::Raw raw = x.raw();
  if (raw.data) {
    const std::int64_t size = raw.elements.bytes();
    return pack_terms(raw.elements, raw.data + (at + first(from)) * size, x.term * size, std::max<std::int64_t>(lines_ - first(from), 0), 0, depth_, from, to);
  }
  alignas(64) double buffer[room];
  for (std::int64_t g = from; g < to;) {
    std::int64_t end = g + 1;
    while (end < to && first(end + 1) - first(g) <= strip) ++end;
    const std::int64_t start = first(g), n = std::clamp<std::int64_t>(lines_ - start, 0, first(end) - start);
    const std::int64_t together = n > 0 ? room / n : depth_;
    for (std::int64_t k = 0; k < depth_; k += together) {
      const std::int64_t terms = std::min(together, depth_ - k), from_term = at + start + k * x.term;
      if (n > 0 && x.term == n) {  // they follow on one another
        x.tensor->decode(from_term, terms * n, buffer);
      } else if (n > 0) {
        for (std::int64_t t = 0; t < terms; ++t) x.tensor->decode(from_term + t * x.term, n, buffer + t * n);
      }
      pack_terms(doubles, bytes_of(buffer), n * static_cast<std::int64_t>(sizeof(double)), n, k, terms, g, end);
    }
    g = end;
  }
}

void PackedLines::copy(std::int64_t line, double* to) const {
  const std::int64_t g = group_of(line), columns = width(g);
  const double* from = group(g) + (line - first(g));
  constexpr std::int64_t ahead = 16;
  for (std::int64_t k = 0; k < depth_; ++k) {
    __builtin_prefetch(from + (k + ahead) * columns);
    to[k] = from[k * columns];
  }
}

}  // namespace erx
