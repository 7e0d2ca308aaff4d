// A tensor that a user bound to an input: raw elements with a type, extents and strides, kept alive by `owner`.
// Elements are decoded where they are read; nothing is copied or converted up front.
//   Tensor t = Tensor::scalar(0.3);    double x = t.at(0);
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/shape.hpp"
#include "ir/type.hpp"
#include "ops/num/set.hpp"
#include "ops/tile_pack.hpp"

namespace erx {

/// How elements lie in memory. `code`: the bits of `type.format` in the smallest whole number of bytes.
enum class Storage { f64, f32, code, i8, i16, i32, i64, u8, u16, u32, u64, boolean, rational };

struct Tensor {
  Type type;                 // real for a Python float or a number on the command line
  Storage storage = Storage::f64;
  Extents extents;
  Extents byte_strides;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;
  std::string text;          // Storage::rational: the exact text of a 0-d real, "3/10"
  std::shared_ptr<const Tensor> imag;  // of a complex type: its imaginary part; all other fields are those of the real part

  static Tensor complex(Tensor re, Tensor im);  // of one shape
  bool is_complex() const { return type.is_complex; }
  Tensor real_part() const;  // of a real tensor: itself
  Tensor imag_part() const;  // of a real tensor: zeros

  static Tensor scalar(double);
  static Tensor rational(std::string text);
  static Tensor integer(std::int64_t);
  static Tensor boolean(bool);
  /// A new contiguous tensor that owns its memory, elements given as doubles that are values of `type`.
  static Tensor of(Type type, Extents extents, const std::vector<double>& values);

  std::int64_t size() const { return size_of(extents); }
  const std::byte* address(std::int64_t flat) const;  // of an element counted in C order
  double at(std::int64_t flat) const;  // nearest double; NaN and infinities as doubles; Bug for rational
  /// at(first), at(first + 1), ... into `out`: the fast way to read a tile. Bug for rational.
  void decode(std::int64_t first, std::int64_t count, double* out) const;
  /// Is every element a double (false only for rationals and wide integers)? Then `at` and `decode` are exact.
  bool is_double() const { return storage != Storage::rational && storage != Storage::i64 && storage != Storage::u64; }
  /// How elements lie side by side in C order from `data` on; nothing where they do not, or become doubles in another way.
  std::optional<Elements> elements() const;
  template <class R>
  Set<R> element(std::int64_t flat, Context) const;  // exactly, zeros with their sign
};

}  // namespace erx
