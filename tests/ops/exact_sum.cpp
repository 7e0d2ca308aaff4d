// The long accumulator against GMP.
#include <doctest/doctest.h>

#include "ops/num/exact_sum.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

void compare_with(const ExactSum& s, const mpq_class& wanted) {
  CHECK(s.sign() == sgn(wanted));
  CHECK(s.exact().to_string() == wanted.get_str());
  const F64 f = s.f64();
  if (f.d > -inf) CHECK((mpq_class(f.d) <= wanted));
  if (f.u < inf) CHECK((mpq_class(f.u) >= wanted));
  CHECK((f.d == f.u || std::nextafter(f.d, inf) == f.u));
  if (f.d != f.u && std::isfinite(f.d) && std::isfinite(f.u)) {
    CHECK((mpq_class(f.d) < wanted));
    CHECK((wanted < mpq_class(f.u)));
  }
  const Big b = s.big();
  CHECK(is_exact(b));
  CHECK(lower(b) == f.d);
  CHECK(upper(b) == f.u);
  if (std::isfinite(f.d) && std::isfinite(f.u)) {
    const Exact rest = sub(s.exact(), Exact::exact(f.d));
    const Big same = sub(b, Big::exact(f.d, {}));
    CHECK(lower(same) == lower(rest));
  }
}

}  // namespace

TEST_CASE("ExactSum: equals the rational sum over all exponents") {
  Doubles random(20260104);
  for (int round = 0; round < 600; ++round) {
    ExactSum s;
    mpq_class wanted = 0;
    const int n = static_cast<int>(random.bits() % 40);
    std::vector<std::pair<double, double>> kept;
    for (int i = 0; i < n; ++i) {
      const double a = random(), b = random();
      switch (random.bits() % 4) {
        case 0:
          s.add(a);
          wanted += mpq_class(a);
          break;
        case 1:
          s.subtract_product(a, b);
          wanted -= mpq_class(a) * mpq_class(b);
          break;
        case 2:  // takes an earlier product back
          if (kept.empty()) break;
          s.add_product(kept.back().first, -kept.back().second);
          wanted -= mpq_class(kept.back().first) * mpq_class(kept.back().second);
          kept.pop_back();
          break;
        default:
          s.add_product(a, b);
          wanted += mpq_class(a) * mpq_class(b);
          kept.emplace_back(a, b);
      }
    }
    wanted.canonicalize();
    compare_with(s, wanted);
  }
}

TEST_CASE("ExactSum: extremes, cancellation and late carries") {
  const double max = std::numeric_limits<double>::max();
  ExactSum s;
  CHECK(s.sign() == 0);
  s.add_product(0x1p-1074, 0x1p-1074);
  CHECK(s.sign() == 1);
  CHECK(s.f64().d == 0);
  CHECK(s.f64().u == 0x1p-1074);
  s.add_product(max, max);
  s.add_product(max, -max);
  compare_with(s, mpq_class(0x1p-1074) * mpq_class(0x1p-1074));
  s.add_product(-0x1p-1074, 0x1p-1074);
  CHECK(s.sign() == 0);
  CHECK(s.exact().to_string() == "0");

  ExactSum many, twice;
  for (int i = 0; i < 3000000; ++i) many.add_product(max, max), many.add(-0x1p-1074);
  compare_with(many, 3000000 * (mpq_class(max) * mpq_class(max)) - 3000000 * mpq_class(0x1p-1074));
  twice.add(many);
  twice.add(many);
  compare_with(twice, 6000000 * (mpq_class(max) * mpq_class(max)) - 6000000 * mpq_class(0x1p-1074));
}
