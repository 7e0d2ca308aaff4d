// Lines of an operand of a matrix product (rows of A, columns of B), packed as tiles read them, with norms and grids measured on the way:
// memory is read once. They come from arrays, or from an input that has none.
//   PackedLines rows(lines, depth, tile_rows);   rows.pack(from, at, 0, rows.groups());   tile(rows.group(0), ...)
#pragma once
#include <cstdint>

#include "eval/buffer.hpp"
#include "eval/norms.hpp"
#include "eval/tensor.hpp"
#include "ops/tile_pack.hpp"

namespace erx {

/// Where lines lie: term k of line l at `l * line + k * term`, counted in elements of the node; one of the strides is 1.
struct OperandLines {
  const Tensor* tensor = nullptr;  // an input without arrays
  const double* values = nullptr;
  const std::uint8_t* flags = nullptr;  // of arrays; nullptr: all 0
  std::int64_t line = 0, term = 0;

  /// `n` elements side by side.
  const double* read(std::int64_t at, std::int64_t n, double* buffer) const {
    if (values) return values + at;
    tensor->decode(at, n, buffer);
    return buffer;
  }

  struct Raw {
    Elements elements;
    const std::byte* data = nullptr;
  };
  /// Where element 0 is, if elements can be packed as they lie; else `data` is null.
  Raw raw() const;
};

class PackedLines {
 public:
  /// most: lines of a group, a multiple of 8; groups have as many lines as one another, or 8 fewer.
  PackedLines(std::int64_t lines, std::int64_t depth, std::int64_t most);

  std::int64_t lines() const { return lines_; }
  std::int64_t depth() const { return depth_; }
  std::int64_t groups() const { return groups_; }
  /// Of a group: lines after the last one are 0.
  std::int64_t first(std::int64_t g) const { return 8 * (g * vectors_ + std::min(g, wider_)); }
  std::int64_t width(std::int64_t g) const { return first(g + 1) - first(g); }
  /// Term k of line l of the group is at k * width + l.
  const double* group(std::int64_t g) const { return data_.data() + first(g) * depth_; }
  std::int64_t padded() const { return first(groups_); }

  /// Packs groups [from, to), each once, in any thread. at: of the first element of line 0.
  void pack(const OperandLines&, std::int64_t at, std::int64_t from, std::int64_t to);
  /// Of the lines that are packed, and of zeros that stand for lines after the last one. The norm of a line with special values is infinite.
  const Profile& profile() const { return profile_; }

  /// The terms of a line, side by side.
  void copy(std::int64_t line, double* to) const;

 private:
  std::int64_t lines_, depth_, groups_, vectors_, wider_;  // the first `wider_` groups have 8 lines more than 8 * vectors_
  Doubles data_;
  Profile profile_;

  double* place(std::int64_t g) { return data_.data() + first(g) * depth_; }
  void pack_along(const OperandLines&, std::int64_t at, std::int64_t from, std::int64_t to);
  void pack_across(const OperandLines&, std::int64_t at, std::int64_t from, std::int64_t to);
  void pack_terms(const Elements&, const std::byte*, std::int64_t stride, std::int64_t n, std::int64_t k, std::int64_t terms, std::int64_t from, std::int64_t to);
  std::int64_t group_of(std::int64_t line) const;
};

}  // namespace erx
