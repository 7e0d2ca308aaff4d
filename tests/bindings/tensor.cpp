#include "eval/tensor.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "ops/num/big.hpp"
#include "ops/num/ends.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"

using namespace erx;

namespace {

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

Tensor codes(const Format& f, const std::vector<std::uint8_t>& bytes, std::int64_t n) {
  const auto size = (f.width() + 7) / 8;
  auto owner = std::make_shared<std::vector<std::uint8_t>>(bytes);
  return {Type::of(f), Storage::code, {n}, {size}, reinterpret_cast<const std::byte*>(owner->data()), owner, "", nullptr};
}

}  // namespace

TEST_CASE("tensor: every code of every format up to 16 bits is decoded alike one by one and in bulk") {
  std::vector<Format> formats(all_formats().begin(), all_formats().end());
  formats.push_back(make_format({.e = 2, .m = 0, .bias = {}, .inf = Infinities::none, .nan = Nans::none}));
  formats.push_back(make_format({.e = 5, .m = 3, .bias = 1020}));  // small values are subnormal doubles
  formats.push_back(make_format({.e = 4, .m = 2, .bias = {}, .subnormals = false}));
  for (const Format& f : formats) {
    if (f.width() > 16) continue;
    const std::uint32_t n = 1u << f.width();
    const int size = (f.width() + 7) / 8;
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < n; ++i)
      for (int k = 0; k < size; ++k) bytes.push_back(static_cast<std::uint8_t>(i >> (8 * k)));
    const Tensor t = codes(f, bytes, n);
    std::vector<double> bulk(n);
    t.decode(0, n, bulk.data());
    for (std::uint32_t i = 0; i < n; ++i) {
      CHECK_MESSAGE(same(bulk[i], decode(f, i)), f.name, " code ", i);
      CHECK_MESSAGE(same(t.at(i), decode(f, i)), f.name, " code ", i);
    }
  }
}

TEST_CASE("tensor: decode of any range of a strided view is `at` of each element") {
  std::vector<double> v(5 * 4 * 3);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i);
  const Tensor whole = Tensor::of(Type::of(*find_format("f64")), {5, 4, 3}, v);
  Tensor view = whole;
  view.extents = {3, 2, 5, 2};  // transposed, with a broadcast axis and a reversed one
  view.byte_strides = {8, 0, 96, -24};
  view.data = whole.data + 24;
  for (std::int64_t first = 0; first < view.size(); ++first)
    for (std::int64_t count = 0; count <= view.size() - first; ++count) {
      std::vector<double> out(static_cast<std::size_t>(count) + 1, -1);
      view.decode(first, count, out.data());
      for (std::int64_t i = 0; i < count; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == view.at(first + i));
      REQUIRE(out.back() == -1);
    }
  CHECK(view.at(0) == 3);
  CHECK(view.at(1) == 0);
}

TEST_CASE("tensor: special values and zeros keep their sign as sets") {
  const Tensor t = Tensor::of(Type::of(*find_format("f64")), {5}, {0.0, -0.0, NAN, INFINITY, -INFINITY});
  const std::uint8_t expected[] = {has_pzero, has_nzero, has_nan | no_reals, has_pinf | no_reals, has_ninf | no_reals};
  for (int i = 0; i < 5; ++i) {
    CHECK(t.element<F64>(i, {}).flags == expected[i]);
    CHECK(t.element<Exact>(i, {}).flags == expected[i]);
    CHECK(t.element<Big>(i, {}).flags == expected[i]);
  }
}

TEST_CASE("tensor: integers past 2^53 and fractions are exact") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  const Tensor t = Tensor::integer(big);
  const F64 f = t.element<F64>(0, {}).lo;
  CHECK(f.d == 0x1p53);
  CHECK(f.u == 0x1p53 + 2);
  const Exact e = t.element<Exact>(0, {}).lo;
  CHECK(compare(e, Exact::literal("9007199254740993")) == Comparison::equal);
  CHECK(compare(Tensor::integer(-big).element<Exact>(0, {}).lo, Exact::literal("-9007199254740993")) == Comparison::equal);
  const Tensor third = Tensor::rational("-1/3");
  CHECK(compare(third.element<Exact>(0, {}).lo, Exact::literal("-1/3")) == Comparison::equal);
  CHECK(third.element<F64>(0, {}).lo.d < third.element<F64>(0, {}).lo.u);
  CHECK(Tensor::rational("0/3").element<F64>(0, {}).flags == has_pzero);
  CHECK(Tensor::rational("-3/10").element<F64>(0, {}).flags == 0);
}
