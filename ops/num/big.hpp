// A real number enclosed by two MPFR numbers at the precision of the Context. The only home of MPFR is big.cpp.
// An operation computes with the larger precision of its operands, down and up; an exact result stays one number.
//   Big x = exp_of(Big::exact(1.0, {256}));   lower(x) < upper(x)
#pragma once
#include <memory>
#include <string_view>

#include "ops/num/set.hpp"

namespace erx {

class Big {
 public:
  struct Ends;  // two mpfr numbers

  Big();  // 0
  static Big exact(double, Context);
  static Big between(double d, double u, Context);
  static Big literal(std::string_view, Context);
  /// +- magnitude * 2^exponent exactly, whatever the precision; the magnitude in 64-bit limbs, lowest first.
  static Big scaled(const std::uint64_t* limbs, std::size_t count, bool negative, long exponent, Context);

  const Ends& ends() const { return *ends_; }

 private:
  friend struct BigAccess;
  explicit Big(std::shared_ptr<const Ends> ends) : ends_(std::move(ends)) {}
  std::shared_ptr<const Ends> ends_;
};

Big add(const Big&, const Big&);
Big sub(const Big&, const Big&);
Big mul(const Big&, const Big&);
Big div(const Big&, const Big&);  // a divisor that may be 0 gives no bound
Big neg(const Big&);
Big abs_of(const Big&);
Big min_of(const Big&, const Big&);
Big max_of(const Big&, const Big&);
Big either(const Big&, const Big&);
Big floor_of(const Big&);
Big ceil_of(const Big&);
Big trunc_of(const Big&);
Big rint_of(const Big&);
Big sqrt_of(const Big&);
Big rsqrt_of(const Big&);
Big exp_of(const Big&);
Big exp2_of(const Big&);
Big expm1_of(const Big&);
Big log_of(const Big&);
Big log2_of(const Big&);
Big log10_of(const Big&);
Big log1p_of(const Big&);
Big sin_of(const Big&);
Big cos_of(const Big&);
Big tanh_of(const Big&);
Big erf_of(const Big&);
Big sigmoid_of(const Big&);
Big pow_of(const Big&, long n);      // n < 0: the base cannot be 0
Big pow_of(const Big&, const Big&);  // x > 0

/// floor(x / pi + shift), shift 0 or 1/2: which monotone piece of cos or sin the double x lies in.
double half_turns(double x, double shift);

Comparison compare(const Big&, const Big&);
double lower(const Big&);
double upper(const Big&);
Chopped chop_lower(const Big&);
Chopped chop_upper(const Big&);
bool is_exact(const Big&);
bool may_be_zero(const Big&);
bool may_be_below_zero(const Big&);
bool may_be_above_zero(const Big&);

}  // namespace erx
