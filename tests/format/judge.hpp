// Rounding judged by exact rationals, written from the definitions and not from the code under test: the values of a format are
// listed from its bit patterns; the nearest is found by comparing distances to the two neighbours in the list.
//   Judge judge(bf16);   judge.round(mpq_class(1, 3), {Mode::rtz})   the double that the definition asks for
#pragma once
#include <gmpxx.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "ir/format.hpp"
#include "ops/rounding.hpp"

namespace erx::judging {

mpq_class power_of_two(int e);

/// A bit pattern by definition: a value, an infinity, a NaN or a code without meaning.
struct Meaning {
  enum class Kind { finite, infinite, nan, none } kind = Kind::none;
  bool negative = false;
  mpq_class magnitude = 0;
};
Meaning meaning(const Format&, std::uint64_t bits);

/// Between two neighbouring magnitudes of the format, the range of exponents taken as unbounded above.
struct Neighbours {
  mpq_class below, above;
  bool below_is_odd = false;
};

/// A mistake that people make, for tests which show that the comparison finds it.
enum class Planted { none, closed_where_even, open_for_away, open_where_odd, nearest_point_for_up, no_subnormals, zero_keeps_sign, ties_up };

class Judge {
 public:
  explicit Judge(Format format, Planted planted = Planted::none);

  double round(const mpq_class& x, const Rounding&, bool negative_zero = false) const;
  bool overflows(const mpq_class& x, const Rounding&) const;

  const Neighbours& neighbours(const mpq_class& magnitude) const;

  /// Every finite magnitude in increasing order, for formats of at most 16 bits.
  const std::vector<mpq_class>& magnitudes() const { return magnitudes_; }
  const Format& format() const { return format_; }

 private:
  mpq_class step_after_largest() const;
  Neighbours find_neighbours(const mpq_class& magnitude) const;
  double overflow(bool negative, const Rounding&) const;
  Format format_;
  Planted planted_;
  mpq_class largest_;
  bool largest_is_odd_ = false;
  std::vector<mpq_class> magnitudes_;
  mutable mpq_class last_asked_ = -1;  // the same point is judged for many modes
  mutable Neighbours last_answer_;
};

/// x as a number type hands it over: 64 bits and whether anything was cut.
Chopped chopped(const mpq_class& x);
mpq_class exactly(double);

bool same(double a, double b);  // the same bits, any NaN being one
std::string hex(double);

constexpr Mode fixed_modes[] = {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn, Mode::rto};
constexpr Overflow overflow_modes[] = {Overflow::by_format, Overflow::sat, Overflow::sat_finite, Overflow::nosat};

/// Formats of a few bits with every kind of encoding, and extreme biases.
std::vector<Format> small_formats();   // named ones of at most 8 bits, and custom ones
std::vector<Format> wide_formats();    // of more than 16 bits

/// Points where rounding changes: each value of the format, each midpoint, each just beside at 2^-60 and 2^-80 of it, past the largest.
std::vector<mpq_class> critical_points(const Judge&);
std::vector<double> random_doubles(const Format&, std::size_t n, std::uint64_t seed);  // near values and midpoints, all magnitudes

}  // namespace erx::judging
