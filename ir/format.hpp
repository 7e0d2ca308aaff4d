// A floating-point format is one row of data. Named formats and `float<e=, m=>` are the same struct.
// Every format here has at most 11 exponent and 52 fraction bits, so each of its values is a double.
//   const Format& f = *find_format("bf16");  f.precision() == 8;  f.max_finite() == 0x1.fep127
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace erx {

enum class Infinities { ieee, none };
enum class Nans { ieee, top, negzero, none };  // top: the all-ones code of each sign; negzero: the code of -0

struct Format {
  std::string name;  // canonical spelling: "bf16", or "float<e=8, m=10>" for an unnamed one
  int exponent_bits = 0;
  int fraction_bits = 0;
  int bias = 0;
  bool has_sign = true;
  bool has_subnormals = true;
  bool has_zero = true;
  Infinities infinities = Infinities::ieee;
  Nans nans = Nans::ieee;
  std::string_view source;  // document that defines it: a text of the program, formats are copied often

  int precision() const { return fraction_bits + 1; }  // p, hidden bit included
  int width() const { return (has_sign ? 1 : 0) + exponent_bits + fraction_bits; }
  int emin() const;           // exponent of the smallest normal number 2^emin
  int emax() const;           // exponent of the largest finite number
  double min_normal() const;  // nu
  double min_positive() const;  // eta: smallest subnormal, or nu where there are none
  double max_finite() const;
  double lowest() const;  // -max_finite(), or the smallest value of an unsigned format
  double unit_roundoff() const;  // u = 2^-p
  bool has_infinity() const { return infinities == Infinities::ieee; }
  bool has_nan() const { return nans != Nans::none; }
  bool has_negative_zero() const { return has_sign && has_zero && nans != Nans::negzero; }

  bool operator==(const Format& o) const;  // same set of values and codes; the name does not count
};

/// All named formats, in the order in which `erx formats` prints them.
std::span<const Format> all_formats();

/// By canonical name or alias ("bfloat16", "float8_e4m3fn", "half"), or nullptr.
const Format* find_format(std::string_view name);
std::vector<std::string> format_names();                   // canonical names and aliases, for "did you mean"
std::vector<std::string> format_aliases(const Format&);  // other spellings of a named format

/// `float<e=, m=, ...>`: the bias defaults to 2^(e-1)-1. Throws Error when the parameters make no format.
struct FormatParameters {
  int e = 0, m = 0;
  std::optional<int> bias = {};
  bool sign = true;
  Infinities inf = Infinities::ieee;
  Nans nan = Nans::ieee;
  bool subnormals = true;
};
Format make_format(const FormatParameters&);

/// Every finite value of `inner` (and NaN, infinities and -0 where it has them) is a value of `outer`.
bool contains(const Format& outer, const Format& inner);

/// Is the finite `x` a value of `f` (either zero counts as zero)?
bool is_value(const Format& f, double x);

/// Value of a bit pattern (NaN and infinities as doubles), and back. `encode` needs a value of the format.
double decode(const Format& f, std::uint64_t bits);
std::uint64_t encode(const Format& f, double value);

/// Neighbours among finite values and +-infinity (where none exists, past the largest comes +-infinity anyway). -0 and +0 are one value.
double next_up(const Format& f, double x);
double next_down(const Format& f, double x);

/// The value `steps` places above (below) a value of the format or an infinity; +-infinity past the last one.
double steps_away(const Format& f, double value, std::int64_t steps);

/// Number of finite values of `f` in [lo, hi] (both zeros count once).
double count_values(const Format& f, double lo, double hi);

/// Signed distance from a to b in steps of `f` (b, a finite values of f or reals rounded toward each other).
double steps_between(const Format& f, double a, double b);

}  // namespace erx
