// What kind of values a tensor holds.
//   Type::of(*find_format("bf16"))   a tensor of bf16 values      Type::real()   exact real numbers
//   Type::complex(Type::of(..))      complex numbers, both parts of that type
#pragma once
#include <optional>
#include <string>

#include "ir/format.hpp"

namespace erx {

enum class Kind { real, floating, integer, boolean };

/// Width 0 of an integer is `int`: unbounded.
struct Type {
  Kind kind = Kind::real;
  Format format = {};    // floating only
  int bits = 0;          // integer only
  bool is_signed = true;  // integer only
  bool is_complex = false;  // real and floating only: two such numbers

  static Type real() { return {}; }
  static Type boolean() { return {.kind = Kind::boolean}; }
  static Type integer(int bits = 0, bool is_signed = true) { return {.kind = Kind::integer, .bits = bits, .is_signed = is_signed}; }
  static Type complex(Type part) {
    if (part.kind != Kind::floating) part = real();
    part.is_complex = true;
    return part;
  }
  static Type of(Format f) { return {.kind = Kind::floating, .format = std::move(f)}; }

  bool is_real() const { return kind == Kind::real; }
  bool is_floating() const { return kind == Kind::floating; }
  bool is_integer() const { return kind == Kind::integer; }
  bool is_boolean() const { return kind == Kind::boolean; }
  /// Of the real and the imaginary part; a real type's own.
  Type part() const {
    Type t = *this;
    t.is_complex = false;
    return t;
  }
  bool operator==(const Type& o) const;
};

/// Canonical spelling: "real", "bf16", "i32", "int", "bool", "complex", "complex<f32>".
std::string to_string(const Type&);
std::optional<Type> find_type(std::string_view name);  // real, int, bool, i8..u64 (int8..uint64 too, and a named format), complex, complex64 (32, 128), complex<f32>

/// Every value of `inner` is a value of `outer`. real contains everything but bool and complex; i8 is contained in f16, f32 in
/// complex<f32>.
bool contains(const Type& outer, const Type& inner);

/// The narrower of the two that contains the other, else real (bool with bool stays bool); complex if either is.
Type join(const Type&, const Type&);

}  // namespace erx
