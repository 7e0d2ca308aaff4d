// The number types themselves: literals, the first 64 bits, exact points of functions.
#include <doctest/doctest.h>

#include "ops/num/big.hpp"
#include "ops/num/chopped.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

std::string digits(Doubles& random, int n) {
  std::string s;
  for (int i = 0; i < n; ++i) s += static_cast<char>('0' + random.bits() % 10);
  return s;
}

mpq_class two_to(long e) {
  mpq_class x(1);
  if (e >= 0)
    mpq_mul_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(e));
  else
    mpq_div_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-e));
  return x;
}

/// |x| lies in the cell that the first 64 bits say.
void check_chop(const Chopped& c, const mpq_class& x) {
  CHECK(c.negative == bool(x < 0));
  if (x == 0) {
    CHECK(c.significand == 0);
    return;
  }
  CHECK((c.significand >> 63) == 1);
  const mpz_class s(static_cast<unsigned long>(c.significand));
  const mpq_class unit = two_to(c.exponent - 63), low = mpq_class(s) * unit;
  const mpq_class size = abs(x);
  CHECK(bool(c.sticky ? low < size && size < low + unit : low == size));
}

}  // namespace

TEST_CASE("literals: every tier holds the number as written") {
  Doubles random(20260112);
  for (int round = 0; round < 3000; ++round) {
    std::string text = digits(random, 1 + static_cast<int>(random.bits() % 30));
    mpz_class whole(text, 10);
    long scale = 0;
    if (random.bits() % 2) {
      const std::string fraction = digits(random, 1 + static_cast<int>(random.bits() % 30));
      text += "." + fraction;
      whole = mpz_class(whole.get_str() + fraction, 10);
      scale -= static_cast<long>(fraction.size());
    }
    if (random.bits() % 3 == 0) {
      const long e = static_cast<long>(random.bits() % 700) - 350;
      text += (random.bits() % 2 ? "e" : "E") + std::to_string(e);
      scale += e;
    }
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(scale)));
    mpq_class value = scale >= 0 ? mpq_class(whole * power) : mpq_class(whole, power);
    value.canonicalize();
    if (random.bits() % 3 == 0) text = "-" + text, value = -value;
    if (random.bits() % 4 == 0) {
      const unsigned long d = 1 + random.bits() % 1000;
      text += "/" + std::to_string(d);
      value /= d;
    }
    CAPTURE(text);
    CHECK(Exact::literal(text).to_string() == value.get_str());
    const F64 f = F64::literal(text);
    const Big b = Big::literal(text, {128});
    for (const auto& [low, high] : {std::pair{f.d, f.u}, std::pair{lower(b), upper(b)}}) {
      if (low > -inf) CHECK((mpq_class(low) <= value));
      if (high < inf) CHECK((value <= mpq_class(high)));
      CHECK((low == high || std::nextafter(low, inf) == high));
    }
    check_chop(chop_lower(Exact::literal(text)), value);
    const double down = lower_of(chop_lower(Exact::literal(text))), up = upper_of(chop_upper(Exact::literal(text)));
    CHECK(down == lower(Exact::literal(text)));
    CHECK(up == upper(Exact::literal(text)));
  }
  for (const char* bad : {"", "x", "1.2.3", "1e", "--1", "1/"}) CHECK_THROWS_AS(Exact::literal(bad), Bug);
  for (const char* bad : {"", "x", "1.2.3", "--1"}) CHECK_THROWS_AS(Big::literal(bad, {}), Bug);
  CHECK_FALSE(Exact::literal("1e1000000000").is_known());
  CHECK(F64::literal("1e400").u == inf);
  CHECK(F64::literal("1e400").d == std::numeric_limits<double>::max());
  CHECK(F64::literal("1e-400").d == 0);
  CHECK(F64::literal("1e-400").u == 0x1p-1074);
  CHECK(F64::literal("0.5").d == F64::literal("0.5").u);
}

TEST_CASE("first 64 bits: of rationals and of long binary numbers") {
  Doubles random(20260113);
  for (int round = 0; round < 3000; ++round) {
    const int limbs = 1 + static_cast<int>(random.bits() % 5);
    std::vector<std::uint64_t> magnitude;
    for (int i = 0; i < limbs; ++i)
      magnitude.push_back(random.bits() % 3 ? random.bits() : random.bits() % 2 ? 0 : ~std::uint64_t{0} << random.bits() % 64);
    if (magnitude.back() == 0) magnitude.back() = 1;
    const long e = static_cast<long>(random.bits() % 4000) - 2500;
    const bool negative = random.bits() % 2;
    mpz_class n;
    mpz_import(n.get_mpz_t(), magnitude.size(), -1, 8, 0, 0, magnitude.data());
    mpq_class value = mpq_class(n) * two_to(e);
    if (negative) value = -value;
    const Exact x = Exact::scaled(magnitude.data(), magnitude.size(), negative, e);
    const Big b = Big::scaled(magnitude.data(), magnitude.size(), negative, e, {});
    CHECK(x.to_string() == value.get_str());
    CHECK(is_exact(b));
    check_chop(chop_lower(x), value);
    check_chop(chop_upper(b), value);
    CHECK(lower(b) == lower(x));
    CHECK(upper(b) == upper(x));
    const unsigned long d = 3 + 2 * (random.bits() % 1000);
    const mpq_class third = value / d;
    check_chop(chop_lower(div(x, Exact::exact(double(d)))), third);
    const Big enclosed = div(b, Big::exact(double(d), {}));
    CHECK(lower(enclosed) <= lower(div(x, Exact::exact(double(d)))));
    CHECK(upper(enclosed) >= upper(div(x, Exact::exact(double(d)))));
  }
  for (double x : {0.0, 1.0, -0x1p-1074, 0x1.fffffffffffffp1023}) check_chop(chop(x), mpq_class(x));
}

TEST_CASE("exact tier: knows the rational points of functions, and no others") {
  const auto text = [](const Exact& x) { return x.to_string(); };
  const auto number = [](const char* s) { return Exact::literal(s); };
  CHECK(text(sqrt_of(number("4/9"))) == "2/3");
  CHECK(text(sqrt_of(number("2"))) == "unknown");
  CHECK(text(sqrt_of(number("8/2"))) == "2");
  CHECK(text(rsqrt_of(number("0.25"))) == "2");
  CHECK(text(exp_of(number("0"))) == "1");
  CHECK(text(exp_of(number("1"))) == "unknown");
  CHECK(text(exp2_of(number("-150"))).find("1/1427247692705959881058285969449495136382746624") == 0);
  CHECK(text(exp2_of(number("0.5"))) == "unknown");
  CHECK(text(log_of(number("1"))) == "0");
  CHECK(text(log2_of(number("1/1024"))) == "-10");
  CHECK(text(log2_of(number("3"))) == "unknown");
  CHECK(text(log10_of(number("1000"))) == "3");
  CHECK(text(log10_of(number("0.001"))) == "-3");
  CHECK(text(log10_of(number("999"))) == "unknown");
  CHECK(text(log10_of(number("1"))) == "0");
  CHECK(text(log1p_of(number("0"))) == "0");
  CHECK(text(expm1_of(number("0"))) == "0");
  CHECK(text(tanh_of(number("0"))) == "0");
  CHECK(text(erf_of(number("0"))) == "0");
  CHECK(text(sin_of(number("0"))) == "0");
  CHECK(text(cos_of(number("0"))) == "1");
  CHECK(text(sigmoid_of(number("0"))) == "1/2");
  CHECK(text(pow_of(number("2/3"), 3)) == "8/27");
  CHECK(text(pow_of(number("2/3"), -2)) == "9/4");
  CHECK(text(pow_of(number("8/27"), number("2/3"))) == "4/9");
  CHECK(text(pow_of(number("2"), number("1/2"))) == "unknown");
  CHECK(text(mul(number("0"), exp_of(number("1")))) == "0");
  CHECK(text(add(number("1"), exp_of(number("1")))) == "unknown");
  CHECK(text(div(number("1"), number("0"))) == "unknown");
  CHECK(text(pow_of(number("3"), 1 << 24)) == "unknown");  // too long to be of use
  CHECK(compare(exp_of(number("1")), number("2")) == Comparison::unknown);
}

TEST_CASE("enclosures: open ends stay bounds") {
  const F64 all{-inf, inf}, above{0x1.fffffffffffffp1023, inf}, up{inf, inf}, one{1, 1};
  for (const F64& x : {add(all, one), add(up, all), mul(all, one), div(one, all), sub(all, all), mul(up, all)}) {
    CHECK(x.d == -inf);
    CHECK(x.u == inf);
  }
  CHECK(mul(all, F64{0, 0}).d == 0);
  CHECK(mul(all, F64{0, 0}).u == 0);
  CHECK(add(above, one).d >= 0x1p1023);
  CHECK(add(up, one).d == inf);
  CHECK(div(one, up).u == 0);
  const Context c;
  const Big whole = Big::between(-inf, inf, c), zero;
  CHECK(lower(add(whole, whole)) == -inf);
  CHECK(upper(mul(whole, zero)) == 0);
  CHECK(lower(sub(whole, whole)) == -inf);
  CHECK(upper(div(Big::exact(1, c), whole)) == inf);
  CHECK(chop_lower(all).negative);
  CHECK(chop_lower(all).exponent > 100000);
  CHECK(lower(exp_of(Big::exact(1e300, c))) == std::numeric_limits<double>::max());
}
