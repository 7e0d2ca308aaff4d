// A rational number known exactly, or "not a rational this type can tell" (exp(1), sqrt(2)). The only home of GMP is exact.cpp.
// Functions know their exact points: sqrt of squares of rationals, powers, exp(0), log2(8).
//   div(Exact::exact(1), Exact::exact(3))   is 1/3
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "ops/num/set.hpp"

namespace erx {

class Exact {
 public:
  struct Value;

  Exact();                                                 // 0
  static Exact exact(double, Context = {});                // an infinite or NaN argument is unknown
  static Exact between(double d, double u, Context = {});  // unknown unless d == u
  static Exact literal(std::string_view, Context = {});    // unknown past 2^(+-100000)
  static Exact unknown();
  /// +- magnitude * 2^exponent, the magnitude in 64-bit limbs, lowest first.
  static Exact scaled(const std::uint64_t* limbs, std::size_t count, bool negative, long exponent);

  bool is_known() const { return value_ != nullptr; }
  const Value* value() const { return value_.get(); }
  std::string to_string() const;  // "3/10", "unknown"

 private:
  friend struct ExactAccess;
  explicit Exact(std::shared_ptr<const Value> v) : value_(std::move(v)) {}
  std::shared_ptr<const Value> value_;  // nullptr: unknown
};

Exact add(const Exact&, const Exact&);
Exact sub(const Exact&, const Exact&);
Exact mul(const Exact&, const Exact&);
Exact div(const Exact&, const Exact&);  // by 0: unknown
Exact neg(const Exact&);
Exact abs_of(const Exact&);
Exact min_of(const Exact&, const Exact&);
Exact max_of(const Exact&, const Exact&);
Exact floor_of(const Exact&);
Exact ceil_of(const Exact&);
Exact trunc_of(const Exact&);
Exact rint_of(const Exact&);
Exact sqrt_of(const Exact&);
Exact rsqrt_of(const Exact&);
Exact exp_of(const Exact&);
Exact exp2_of(const Exact&);
Exact expm1_of(const Exact&);
Exact log_of(const Exact&);
Exact log2_of(const Exact&);
Exact log10_of(const Exact&);
Exact log1p_of(const Exact&);
Exact sin_of(const Exact&);
Exact cos_of(const Exact&);
Exact tanh_of(const Exact&);
Exact erf_of(const Exact&);
Exact sigmoid_of(const Exact&);
Exact pow_of(const Exact&, long n);
Exact pow_of(const Exact&, const Exact&);  // x > 0
Exact either(const Exact&, const Exact&);  // one of the two, not known which

Comparison compare(const Exact&, const Exact&);
double lower(const Exact&);
double upper(const Exact&);
Chopped chop_lower(const Exact&);
Chopped chop_upper(const Exact&);
bool is_exact(const Exact&);
bool may_be_zero(const Exact&);
bool may_be_below_zero(const Exact&);
bool may_be_above_zero(const Exact&);

}  // namespace erx
