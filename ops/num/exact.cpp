#include "ops/num/exact.hpp"

#include <gmpxx.h>

#include <cmath>
#include <limits>

#include "ir/ieee.hpp"
#include "ops/num/chopped.hpp"

namespace erx {

struct Exact::Value {
  mpq_class q;
};

/// Makes and opens values.
struct ExactAccess {
  static Exact make(mpq_class q) {
    // A number that needs megabytes is no help to anyone; the enclosure of another tier is.
    constexpr std::size_t most_bits = 1 << 20;
    if (mpz_sizeinbase(q.get_num_mpz_t(), 2) + mpz_sizeinbase(q.get_den_mpz_t(), 2) > most_bits) return Exact::unknown();
    return Exact(std::make_shared<const Exact::Value>(Exact::Value{std::move(q)}));
  }
  static Exact none() { return Exact(std::shared_ptr<const Exact::Value>()); }
};

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr long exponent_limit = 100000;

const mpq_class& q(const Exact& x) { return x.value()->q; }

Exact integer(long n) { return ExactAccess::make(mpq_class(n)); }

template <class Formula>
Exact known(const Exact& a, Formula formula) {
  return a.is_known() ? ExactAccess::make(formula(q(a))) : Exact::unknown();
}
template <class Formula>
Exact known(const Exact& a, const Exact& b, Formula formula) {
  return a.is_known() && b.is_known() ? ExactAccess::make(formula(q(a), q(b))) : Exact::unknown();
}

mpq_class power_of_two(long e) {
  mpq_class x(1);
  if (e >= 0)
    mpq_mul_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(e));
  else
    mpq_div_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-e));
  return x;
}

/// f(0) where only 0 gives a rational (Lindemann-Weierstrass; for erf none other is known).
Exact only_at_zero(const Exact& x, const mpq_class& value) {
  return x.is_known() && sgn(q(x)) == 0 ? ExactAccess::make(value) : Exact::unknown();
}

bool is_power_of_two(const mpz_class& n) { return n > 0 && mpz_popcount(n.get_mpz_t()) == 1; }

/// The decimal exponent of 10^k, or -1.
long decimal_exponent(const mpz_class& n) {
  if (n <= 0) return -1;
  const long k = static_cast<long>(mpz_sizeinbase(n.get_mpz_t(), 10)) - 1;  // may be one too large
  for (long j = k; j >= 0 && j >= k - 1; --j) {
    mpz_class p;
    mpz_ui_pow_ui(p.get_mpz_t(), 10, static_cast<unsigned long>(j));
    if (p == n) return j;
  }
  return -1;
}

/// |x| as its first 64 bits, truncated.
Chopped chopped(const mpq_class& x) {
  Chopped c;
  c.negative = sgn(x) < 0;
  if (sgn(x) == 0) return c;
  mpz_class num = abs(x.get_num()), den = x.get_den(), quotient, rest;
  long shift = 65 - static_cast<long>(mpz_sizeinbase(num.get_mpz_t(), 2)) + static_cast<long>(mpz_sizeinbase(den.get_mpz_t(), 2));
  if (shift >= 0)
    num <<= static_cast<unsigned long>(shift);
  else
    den <<= static_cast<unsigned long>(-shift);
  mpz_tdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), num.get_mpz_t(), den.get_mpz_t());
  c.sticky = sgn(rest) != 0;
  const auto bits = static_cast<long>(mpz_sizeinbase(quotient.get_mpz_t(), 2));  // 65 or 66
  const auto drop = static_cast<mp_bitcnt_t>(bits - 64);
  c.sticky = c.sticky || mpz_scan1(quotient.get_mpz_t(), 0) < drop;
  quotient >>= drop;
  c.significand = mpz_get_ui(quotient.get_mpz_t());
  static_assert(sizeof(unsigned long) == 8);
  c.exponent = static_cast<int>(bits - 1 - shift);
  return c;
}

double bound(const Exact& x, bool up) {
  if (!x.is_known()) return up ? infinity : -infinity;
  return up ? upper_of(chopped(q(x))) : lower_of(chopped(q(x)));
}

/// x^(1/n), if that is rational.
bool exact_root(const mpq_class& x, unsigned long n, mpq_class& root) {
  if (sgn(x) < 0) return false;
  return mpz_root(root.get_num_mpz_t(), x.get_num_mpz_t(), n) && mpz_root(root.get_den_mpz_t(), x.get_den_mpz_t(), n);
}

}  // namespace

Exact::Exact() {
  static const std::shared_ptr<const Value> zero = std::make_shared<const Value>();
  value_ = zero;
}
Exact Exact::unknown() { return ExactAccess::none(); }
Exact Exact::exact(double x, Context) { return x - x == 0 ? ExactAccess::make(mpq_class(x)) : unknown(); }
Exact Exact::between(double d, double u, Context) { return d == u ? exact(d) : unknown(); }

Exact Exact::literal(std::string_view text, Context) {
  if (text == "pi") return unknown();  // no rational
  const auto slash = text.find('/');
  if (slash != text.npos) return div(literal(text.substr(0, slash)), literal(text.substr(slash + 1)));
  // [sign] digits [. digits] [e [sign] digits]
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::string digits;
  long scale = 0;
  std::size_t i = 0;
  for (bool point = false; i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == '.'); ++i) {
    if (text[i] == '.') {
      if (point) throw Bug("not a number: " + std::string(text));
      point = true;
    } else {
      digits += text[i];
      scale -= point;
    }
  }
  if (digits.empty()) throw Bug("not a number: " + std::string(text));
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') throw Bug("not a number: " + std::string(text));
    ++i;
    bool down = false;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) down = text[i++] == '-';
    if (i == text.size()) throw Bug("not a number: " + std::string(text));
    long e = 0;
    for (; i < text.size(); ++i) {
      if (!std::isdigit(static_cast<unsigned char>(text[i]))) throw Bug("not a number: " + std::string(text));
      e = std::min(10 * e + (text[i] - '0'), 10 * exponent_limit);
    }
    scale += down ? -e : e;
  }
  mpz_class significand(digits, 10);
  if (significand == 0) return Exact();
  if (std::labs(scale) > exponent_limit) return unknown();
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(scale)));
  mpq_class x = scale >= 0 ? mpq_class(significand * power) : mpq_class(significand, power);
  x.canonicalize();
  return ExactAccess::make(negative ? mpq_class(-x) : x);
}

Exact Exact::scaled(const std::uint64_t* limbs, std::size_t count, bool negative, long exponent) {
  mpz_class n;
  mpz_import(n.get_mpz_t(), count, -1, sizeof *limbs, 0, 0, limbs);
  if (negative) n = -n;
  return ExactAccess::make(mpq_class(n) * power_of_two(exponent));
}

std::string Exact::to_string() const { return is_known() ? value_->q.get_str() : "unknown"; }

Exact add(const Exact& a, const Exact& b) {
  return known(a, b, [](auto& x, auto& y) { return mpq_class(x + y); });
}
Exact sub(const Exact& a, const Exact& b) {
  return known(a, b, [](auto& x, auto& y) { return mpq_class(x - y); });
}
Exact mul(const Exact& a, const Exact& b) {
  // 0 times a real is 0, known or not
  if ((a.is_known() && sgn(q(a)) == 0) || (b.is_known() && sgn(q(b)) == 0)) return Exact();
  return known(a, b, [](auto& x, auto& y) { return mpq_class(x * y); });
}
Exact div(const Exact& a, const Exact& b) {
  if (b.is_known() && sgn(q(b)) == 0) return Exact::unknown();
  return known(a, b, [](auto& x, auto& y) { return mpq_class(x / y); });
}
Exact neg(const Exact& a) {
  return known(a, [](auto& x) { return mpq_class(-x); });
}
Exact abs_of(const Exact& a) {
  return known(a, [](auto& x) { return mpq_class(abs(x)); });
}
Exact min_of(const Exact& a, const Exact& b) {
  if (!a.is_known() || !b.is_known()) return Exact::unknown();
  return q(b) < q(a) ? b : a;
}
Exact max_of(const Exact& a, const Exact& b) {
  if (!a.is_known() || !b.is_known()) return Exact::unknown();
  return q(b) > q(a) ? b : a;
}
Exact either(const Exact& a, const Exact& b) { return a.is_known() && b.is_known() && q(a) == q(b) ? a : Exact::unknown(); }

Exact floor_of(const Exact& a) {
  return known(a, [](auto& x) {
    mpz_class n;
    mpz_fdiv_q(n.get_mpz_t(), x.get_num_mpz_t(), x.get_den_mpz_t());
    return mpq_class(n);
  });
}
Exact ceil_of(const Exact& a) { return neg(floor_of(neg(a))); }
Exact trunc_of(const Exact& a) {
  if (!a.is_known()) return a;
  return sgn(q(a)) < 0 ? ceil_of(a) : floor_of(a);
}
Exact rint_of(const Exact& a) {
  return known(a, [](auto& x) {
    mpz_class n;  // floor(x + 1/2), one less at a tie that is odd
    const mpq_class shifted = x + mpq_class(1, 2);
    mpz_fdiv_q(n.get_mpz_t(), shifted.get_num_mpz_t(), shifted.get_den_mpz_t());
    if (shifted == n && mpz_odd_p(n.get_mpz_t())) n -= 1;
    return mpq_class(n);
  });
}

Exact sqrt_of(const Exact& a) {
  mpq_class root;
  return a.is_known() && exact_root(q(a), 2, root) ? ExactAccess::make(root) : Exact::unknown();
}
Exact rsqrt_of(const Exact& a) { return div(integer(1), sqrt_of(a)); }
Exact exp_of(const Exact& a) { return only_at_zero(a, 1); }
Exact expm1_of(const Exact& a) { return only_at_zero(a, 0); }
Exact log1p_of(const Exact& a) { return only_at_zero(a, 0); }
Exact sin_of(const Exact& a) { return only_at_zero(a, 0); }
Exact cos_of(const Exact& a) { return only_at_zero(a, 1); }
Exact tanh_of(const Exact& a) { return only_at_zero(a, 0); }
Exact erf_of(const Exact& a) { return only_at_zero(a, 0); }
Exact sigmoid_of(const Exact& a) { return only_at_zero(a, mpq_class(1, 2)); }
Exact log_of(const Exact& a) { return a.is_known() && q(a) == 1 ? Exact() : Exact::unknown(); }

Exact exp2_of(const Exact& a) {
  if (!a.is_known() || q(a).get_den() != 1 || abs(q(a).get_num()) > exponent_limit) return Exact::unknown();
  return ExactAccess::make(power_of_two(q(a).get_num().get_si()));
}
Exact log2_of(const Exact& a) {
  if (!a.is_known()) return a;
  const mpz_class &num = q(a).get_num(), &den = q(a).get_den();
  if (!is_power_of_two(num) || !is_power_of_two(den)) return Exact::unknown();
  return integer(static_cast<long>(mpz_scan1(num.get_mpz_t(), 0)) - static_cast<long>(mpz_scan1(den.get_mpz_t(), 0)));
}
Exact log10_of(const Exact& a) {
  if (!a.is_known()) return a;
  const long up = decimal_exponent(q(a).get_num()), down = decimal_exponent(q(a).get_den());
  return up >= 0 && down >= 0 && (up == 0 || down == 0) ? integer(up - down) : Exact::unknown();
}

Exact pow_of(const Exact& a, long n) {
  if (!a.is_known()) return a;
  if (n == 0) return integer(1);
  if (n < 0) return div(integer(1), pow_of(a, -n));
  const mpq_class& x = q(a);
  const double bits = static_cast<double>(mpz_sizeinbase(x.get_num_mpz_t(), 2) + mpz_sizeinbase(x.get_den_mpz_t(), 2));
  if (bits > 4 && bits * static_cast<double>(n) > 1 << 20) return Exact::unknown();
  if (n > 1 << 20) return abs(x) == 1 || sgn(x) == 0 ? (n % 2 ? a : abs_of(a)) : Exact::unknown();
  mpq_class power;
  mpz_pow_ui(power.get_num_mpz_t(), x.get_num_mpz_t(), static_cast<unsigned long>(n));
  mpz_pow_ui(power.get_den_mpz_t(), x.get_den_mpz_t(), static_cast<unsigned long>(n));
  return ExactAccess::make(power);
}

Exact pow_of(const Exact& a, const Exact& b) {
  if (a.is_known() && q(a) == 1) return a;
  if (b.is_known() && sgn(q(b)) == 0) return integer(1);
  if (!a.is_known() || !b.is_known() || sgn(q(a)) <= 0) return Exact::unknown();
  const mpz_class &num = q(b).get_num(), &den = q(b).get_den();
  if (!num.fits_slong_p() || den > 4096) return Exact::unknown();
  mpq_class root;
  return exact_root(q(a), den.get_ui(), root) ? pow_of(ExactAccess::make(root), num.get_si()) : Exact::unknown();
}

Comparison compare(const Exact& a, const Exact& b) {
  if (!a.is_known() || !b.is_known()) return Comparison::unknown;
  const int c = cmp(q(a), q(b));
  return c < 0 ? Comparison::less : c > 0 ? Comparison::greater : Comparison::equal;
}
double lower(const Exact& a) { return bound(a, false); }
double upper(const Exact& a) { return bound(a, true); }
Chopped chop_lower(const Exact& a) { return a.is_known() ? chopped(q(a)) : chop_end(-infinity); }
Chopped chop_upper(const Exact& a) { return a.is_known() ? chopped(q(a)) : chop_end(infinity); }
bool is_exact(const Exact& a) { return a.is_known(); }
bool may_be_zero(const Exact& a) { return !a.is_known() || sgn(q(a)) == 0; }
bool may_be_below_zero(const Exact& a) { return !a.is_known() || sgn(q(a)) < 0; }
bool may_be_above_zero(const Exact& a) { return !a.is_known() || sgn(q(a)) > 0; }

}  // namespace erx
