// What kind of values a tensor holds.
//   Type::of(*find_format("bf16"))   a tensor of bf16 values      Type::real()   exact real numbers
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

  static Type real() { return {}; }
  static Type boolean() { return {.kind = Kind::boolean}; }
  static Type integer(int bits = 0, bool is_signed = true) { return {.kind = Kind::integer, .bits = bits, .is_signed = is_signed}; }
  static Type of(Format f) { return {.kind = Kind::floating, .format = std::move(f)}; }

  bool is_real() const { return kind == Kind::real; }
  bool is_floating() const { return kind == Kind::floating; }
  bool is_integer() const { return kind == Kind::integer; }
  bool is_boolean() const { return kind == Kind::boolean; }
  bool operator==(const Type& o) const;
};

/// Canonical spelling: "real", "bf16", "i32", "int", "bool".
std::string to_string(const Type&);
std::optional<Type> find_type(std::string_view name);  // real, int, bool, i8..u64 (a named format too)

/// Every value of `inner` is a value of `outer`. real contains everything but bool; i8 is contained in f16.
bool contains(const Type& outer, const Type& inner);

/// The narrower of the two that contains the other, else real (bool with bool stays bool).
Type join(const Type&, const Type&);

}  // namespace erx
