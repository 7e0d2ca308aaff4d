#include "ops/num/f64.hpp"

namespace erx::f64 {

namespace {
int sign(double x) { return (x > 0) - (x < 0); }

/// sign of (difference + residual), difference exact and at least as large as the residual unless it is 0.
int combined(double difference, double residual) { return difference != 0 ? sign(difference) : sign(residual); }
}  // namespace

int product_residual_sign(double a, double b, double p) {
  int ea = 0, eb = 0;
  const double ma = std::frexp(a, &ea), mb = std::frexp(b, &eb);
  const double q = ma * mb;  // no underflow here
  const double r = std::fma(ma, mb, -q);
  return combined(q - std::ldexp(p, -(ea + eb)), r);
}

int quotient_residual_sign(double a, double b, double q) {
  int ea = 0, eb = 0;
  const double ma = std::frexp(a, &ea), mb = std::frexp(b, &eb);
  const double t = ma / mb;
  const double r = std::fma(-t, mb, ma);
  return combined(t - std::ldexp(q, eb - ea), mb < 0 ? -r : r);
}

int root_residual_sign(double a, double s) {
  const double r = std::fma(-std::ldexp(s, 512), std::ldexp(s, 512), std::ldexp(a, 1024));
  return sign(r);
}

}  // namespace erx::f64
