#include "tests/ops/support.hpp"

namespace erx::test {

namespace {

using Q = mpq_class;
using Value = std::optional<Q>;

mpz_class floor_of(const Q& x) {
  mpz_class n;
  mpz_fdiv_q(n.get_mpz_t(), x.get_num_mpz_t(), x.get_den_mpz_t());
  return n;
}

double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return nan_value;
  if (x == 0 && y == 0) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
double minimum(double x, double y) { return -maximum(-x, -y); }

/// NumPy's npy_divmod.
double floor_divide(double a, double b, double* rest) {
  double mod = std::fmod(a, b);
  if (b == 0) {
    *rest = mod;
    return a / b;
  }
  double div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) mod += b, div -= 1;
  } else
    mod = std::copysign(0.0, b);
  *rest = mod;
  if (div == 0) return std::copysign(0.0, a / b);
  double floored = std::floor(div);
  if (div - floored > 0.5) floored += 1;
  return floored;
}

int sigmoid(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rnd) {  // only at 300 bits and more, compared with margins
  mpfr_neg(y, x, rnd);
  mpfr_exp(y, y, rnd);
  mpfr_add_ui(y, y, 1, rnd);
  return mpfr_ui_div(y, 1, y, rnd);
}

}  // namespace

const std::map<std::string_view, Oracle>& oracles() {
  static const std::map<std::string_view, Oracle> table = [] {
    std::map<std::string_view, Oracle> t;
    const auto exact = Oracle::exact_result;
    const auto close = Oracle::close;
    const auto truth = Oracle::truth;
    t["add"] = {2, [](const double* x) { return x[0] + x[1]; }, {}, [](const Q* x) -> Value { return Q(x[0] + x[1]); }};
    t["sub"] = {2, [](const double* x) { return x[0] - x[1]; }, {}, [](const Q* x) -> Value { return Q(x[0] - x[1]); }};
    t["mul"] = {2, [](const double* x) { return x[0] * x[1]; }, {}, [](const Q* x) -> Value { return Q(x[0] * x[1]); }};
    t["prod"] = t["cumprod"] = t["mul"];
    t["div"] = {
        2, [](const double* x) { return x[0] / x[1]; }, {}, [](const Q* x) -> Value { return x[1] == 0 ? Value() : Q(x[0] / x[1]); }};
    t["fma"] = {
        3, [](const double* x) { return std::fma(x[0], x[1], x[2]); }, {}, [](const Q* x) -> Value { return Q(x[0] * x[1] + x[2]); }};
    t["neg"] = {1, [](const double* x) { return -x[0]; }, exact, [](const Q* x) -> Value { return Q(-x[0]); }};
    t["abs"] = {1, [](const double* x) { return std::fabs(x[0]); }, exact, [](const Q* x) -> Value { return Q(abs(x[0])); }};
    t["sign"] = {1,       [](const double* x) { return x[0] > 0 ? 1 : x[0] < 0 ? -1 : x[0]; },
                 exact,   [](const Q* x) -> Value { return Q(sgn(x[0])); },
                 nullptr, 0,
                 true};
    t["minimum"] = {2, [](const double* x) { return minimum(x[0], x[1]); }, exact,
                    [](const Q* x) -> Value { return x[0] < x[1] ? x[0] : x[1]; }};
    t["maximum"] = {2, [](const double* x) { return maximum(x[0], x[1]); }, exact,
                    [](const Q* x) -> Value { return x[0] > x[1] ? x[0] : x[1]; }};
    t["min"] = t["minimum"];
    t["max"] = t["maximum"];
    t["fmin"] = {2, [](const double* x) { return std::fmin(x[0], x[1]); }, exact, t["min"].rational, nullptr, 0, true};
    t["fmax"] = {2, [](const double* x) { return std::fmax(x[0], x[1]); }, exact, t["max"].rational, nullptr, 0, true};
    t["clamp"] = {3, [](const double* x) { return minimum(maximum(x[0], x[1]), x[2]); }, exact,
                  [](const Q* x) -> Value {
                    const Q up = x[0] > x[1] ? x[0] : x[1];
                    return up < x[2] ? up : x[2];
                  }};
    t["lt"] = {2, [](const double* x) { return double(x[0] < x[1]); }, truth, [](const Q* x) -> Value { return Q(x[0] < x[1]); }};
    t["le"] = {2, [](const double* x) { return double(x[0] <= x[1]); }, truth, [](const Q* x) -> Value { return Q(x[0] <= x[1]); }};
    t["gt"] = {2, [](const double* x) { return double(x[0] > x[1]); }, truth, [](const Q* x) -> Value { return Q(x[0] > x[1]); }};
    t["ge"] = {2, [](const double* x) { return double(x[0] >= x[1]); }, truth, [](const Q* x) -> Value { return Q(x[0] >= x[1]); }};
    t["eq"] = {2, [](const double* x) { return double(x[0] == x[1]); }, truth, [](const Q* x) -> Value { return Q(x[0] == x[1]); }};
    t["ne"] = {2, [](const double* x) { return double(x[0] != x[1]); }, truth, [](const Q* x) -> Value { return Q(x[0] != x[1]); }};
    t["and"] = {2,       [](const double* x) { return double(x[0] != 0 && x[1] != 0); },
                truth,   [](const Q* x) -> Value { return Q(x[0] * x[1]); },
                nullptr, 3};
    t["or"] = {2,       [](const double* x) { return double(x[0] != 0 || x[1] != 0); },
               truth,   [](const Q* x) -> Value { return Q(x[0] + x[1] > 0); },
               nullptr, 3};
    t["argmax"] = {2, [](const double* x) { return double(x[1] > x[0] || (std::isnan(x[1]) && !std::isnan(x[0]))); }, truth,
                   [](const Q* x) -> Value { return Q(x[1] > x[0]); }};
    t["all"] = t["and"];
    t["any"] = t["or"];
    t["not"] = {1, [](const double* x) { return double(x[0] == 0); }, truth, [](const Q* x) -> Value { return Q(1 - x[0]); }, nullptr, 1};
    t["where"] = {3,       [](const double* x) { return x[0] != 0 ? x[1] : x[2]; },
                  exact,   [](const Q* x) -> Value { return x[0] != 0 ? x[1] : x[2]; },
                  nullptr, 1};
    t["floor"] = {1, [](const double* x) { return std::floor(x[0]); }, exact, [](const Q* x) -> Value { return Q(floor_of(x[0])); }};
    t["ceil"] = {1, [](const double* x) { return std::ceil(x[0]); }, exact, [](const Q* x) -> Value { return Q(-floor_of(-x[0])); }};
    t["trunc"] = {1, [](const double* x) { return std::trunc(x[0]); }, exact,
                  [](const Q* x) -> Value { return Q(x[0] < 0 ? mpz_class(-floor_of(-x[0])) : floor_of(x[0])); }};
    t["rint"] = {1, [](const double* x) { return std::nearbyint(x[0]); }, exact,
                 [](const Q* x) -> Value {
                   const mpz_class n = floor_of(x[0]);
                   const Q rest = x[0] - n, half(1, 2);
                   return Q(rest < half || (rest == half && mpz_even_p(n.get_mpz_t())) ? n : mpz_class(n + 1));
                 }};
    t["floordiv"] = {2,
                     [](const double* x) {
                       double r;
                       return floor_divide(x[0], x[1], &r);
                     },
                     close,
                     [](const Q* x) -> Value { return x[1] == 0 ? Value() : Q(floor_of(Q(x[0] / x[1]))); },
                     nullptr,
                     0,
                     true};
    t["mod"] = {2,
                [](const double* x) {
                  double r;
                  floor_divide(x[0], x[1], &r);
                  return r;
                },
                close,
                [](const Q* x) -> Value { return x[1] == 0 ? Value() : Q(x[0] - x[1] * floor_of(Q(x[0] / x[1]))); },
                nullptr,
                0,
                true};
    t["real"] = {1, [](const double* x) { return x[0]; }, exact, [](const Q* x) -> Value { return x[0]; }};
    t["conj"] = t["real"];
    t["imag"] = {1, [](const double*) { return 0.0; }, exact, [](const Q*) -> Value { return Q(0); }};
    t["hypot"] = {2, [](const double* x) { return std::hypot(x[0], x[1]); }, close};
    t["sqrt"] = {1, [](const double* x) { return std::sqrt(x[0]); }, {}, nullptr, mpfr_sqrt};
    t["rsqrt"] = {1, [](const double* x) { return x[0] == 0 ? 1 / x[0] : 1 / std::sqrt(x[0]); }, close, nullptr, mpfr_rec_sqrt};
    t["exp"] = {1, [](const double* x) { return std::exp(x[0]); }, close, nullptr, mpfr_exp};
    t["exp2"] = {1, [](const double* x) { return std::exp2(x[0]); }, close, nullptr, mpfr_exp2};
    t["expm1"] = {1, [](const double* x) { return std::expm1(x[0]); }, close, nullptr, mpfr_expm1};
    t["log"] = {1, [](const double* x) { return std::log(x[0]); }, close, nullptr, mpfr_log};
    t["log2"] = {1, [](const double* x) { return std::log2(x[0]); }, close, nullptr, mpfr_log2};
    t["log10"] = {1, [](const double* x) { return std::log10(x[0]); }, close, nullptr, mpfr_log10};
    t["log1p"] = {1, [](const double* x) { return std::log1p(x[0]); }, close, nullptr, mpfr_log1p};
    t["sin"] = {1, [](const double* x) { return std::sin(x[0]); }, close, nullptr, mpfr_sin};
    t["cos"] = {1, [](const double* x) { return std::cos(x[0]); }, close, nullptr, mpfr_cos};
    t["tanh"] = {1, [](const double* x) { return std::tanh(x[0]); }, close, nullptr, mpfr_tanh};
    t["erf"] = {1, [](const double* x) { return std::erf(x[0]); }, close, nullptr, mpfr_erf};
    t["sigmoid"] = {1, [](const double* x) { return 1 / (1 + std::exp(-x[0])); }, close, nullptr, sigmoid};
    return t;
  }();
  return table;
}

}  // namespace erx::test
