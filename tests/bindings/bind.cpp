#include "eval/bind.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace erx;

namespace {

Type type(const char* name) { return Type::of(*find_format(name)); }
Tensor f64(std::vector<double> v) {
  const auto n = static_cast<std::int64_t>(v.size());
  return Tensor::of(type("f64"), {n}, v);
}
std::string wrong(const Tensor& t, const Type& declared) {
  const auto m = misfit(t, declared);
  return m ? std::to_string(m->flat) + " " + m->what : "";
}

template <class T>
Tensor one(T value, Storage storage, Type type) {
  auto owner = std::make_shared<T>(value);
  return Tensor{type, storage, {}, {}, reinterpret_cast<const std::byte*>(owner.get()), owner, "", nullptr};
}

const double not_a_number = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("bind: a value is accepted exactly where the format holds it") {
  CHECK(wrong(f64({1, -448, 0.0, -0.0, not_a_number, 0x1p-9}), type("f8e4m3fn")) == "");
  CHECK(wrong(f64({1, 449}), type("f8e4m3fn")) == "1 is 449, which is no f8e4m3fn value (the nearest is 448)");
  CHECK(wrong(f64({1e300}), type("f32")) == "0 is 1e+300, which is no f32 value (it is past the largest, 3.4028234663852886e+38)");
  CHECK(wrong(f64({infinity}), type("f8e4m3fn")) == "0 is inf, but f8e4m3fn has no infinity");
  CHECK(wrong(f64({not_a_number}), type("f4e2m1fn")) == "0 is nan, but f4e2m1fn has no NaN");
  CHECK(wrong(f64({-0.0}), type("f8e4m3fnuz")) == "0 is -0, but f8e4m3fnuz has no negative zero");
  CHECK(wrong(f64({infinity, -infinity, not_a_number, -0.0}), type("bf16")) == "");
  for (const Format& f : all_formats()) {
    if (f.width() > 16) continue;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << f.width(); ++bits) {
      const double x = decode(f, bits);
      CHECK_MESSAGE(wrong(f64({x}), Type::of(f)) == "", f.name, " ", bits);
      if (std::isfinite(x) && x != 0) {
        CHECK_MESSAGE(wrong(f64({std::nextafter(x, 0)}), Type::of(f)) != "", f.name, " ", bits);
        const double up = next_up(f, x);
        if (std::isfinite(up)) CHECK_MESSAGE(wrong(f64({x + (up - x) / 2}), Type::of(f)) != "", f.name, " ", bits);
      }
    }
  }
}

TEST_CASE("bind: the error names input, place, value and the nearest value") {
  const Tensor t = Tensor::of(type("f32"), {2, 2}, {1, 1, 0.5, 0.300048828125});
  try {
    require_representable(t, type("bf16"), "A");
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.diagnostics.at(0).what ==
          "input `A` is declared bf16, but A[1, 1] is 0.300048828125, which is no bf16 value (the nearest is 0.30078125)");
    CHECK(e.diagnostics.at(0).notes.size() == 1);
  }
  CHECK_NOTHROW(require_representable(t, type("f32"), "A"));
  CHECK_NOTHROW(require_representable(t, type("f64"), "A"));
  CHECK_NOTHROW(require_representable(t, Type::real(), "A"));
}

TEST_CASE("bind: numbers and fractions") {
  CHECK(wrong(Tensor::scalar(0.3), Type::real()) == "");
  CHECK(wrong(Tensor::scalar(0.3), type("f32")) != "");
  CHECK(wrong(Tensor::scalar(0.3), type("f64")) == "");
  CHECK(wrong(Tensor::rational("3/10"), Type::real()) == "");
  CHECK(wrong(Tensor::rational("3/10"), type("f64")) == "0 is 3/10, which is no f64 value (the nearest is 0.3)");
  CHECK(wrong(Tensor::rational("3/8"), type("f8e4m3fn")) == "");
  CHECK(wrong(Tensor::rational("-6/2"), Type::integer(8)) == "");
  CHECK(wrong(Tensor::rational("1/2"), Type::integer(8)) == "0 is 1/2, which is not an integer");
  CHECK(wrong(Tensor::rational("0/7"), type("bf16")) == "");
}

TEST_CASE("bind: integers are compared as integers") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  CHECK(wrong(one(big, Storage::i64, Type::integer(64)), type("f64")) != "");
  CHECK(wrong(one(big - 1, Storage::i64, Type::integer(64)), type("f64")) == "");
  CHECK(wrong(one(std::numeric_limits<std::int64_t>::max(), Storage::i64, Type::integer(64)), type("f64")) != "");
  CHECK(wrong(one(std::numeric_limits<std::int64_t>::min(), Storage::i64, Type::integer(64)), type("f64")) == "");
  CHECK(wrong(one(std::numeric_limits<std::uint64_t>::max(), Storage::u64, Type::integer(64, false)), Type::integer(64)) != "");
  CHECK(wrong(one(std::uint64_t{1} << 62, Storage::u64, Type::integer(64, false)), Type::integer(64)) == "");
  CHECK(wrong(one(std::int64_t{-1}, Storage::i64, Type::integer(64)), Type::integer(64, false)) != "");
  CHECK(wrong(f64({-128, 127}), Type::integer(8)) == "");
  CHECK(wrong(f64({128}), Type::integer(8)) == "0 is 128, which is outside i8 (-128 to 127)");
  CHECK(wrong(f64({255}), Type::integer(8, false)) == "");
  CHECK(wrong(f64({0x1p63}), Type::integer(64)) != "");
  CHECK(wrong(f64({-0x1p63}), Type::integer(64)) == "");
  CHECK(wrong(f64({0.5}), Type::integer()) == "0 is 0.5, which is not an integer");
  CHECK(wrong(f64({not_a_number}), Type::integer()) != "");
  CHECK(wrong(f64({0x1p70}), Type::integer()) == "");
  CHECK(wrong(one(std::int64_t{257}, Storage::i64, Type::integer(64)), type("bf16")) == "0 is 257, which is no bf16 value (the nearest is 256)");
}

TEST_CASE("bind: booleans are booleans") {
  CHECK(wrong(Tensor::boolean(true), Type::boolean()) == "");
  CHECK(wrong(Tensor::boolean(true), type("f32")) == "-1 is a boolean, not a number");
  CHECK(wrong(Tensor::scalar(1), Type::boolean()) == "-1 is a number, not a boolean");
  CHECK(wrong(Tensor::of(Type::boolean(), {1}, {1}), Type::real()) == "-1 holds booleans, not numbers");
  CHECK(wrong(f64({1}), Type::boolean()) == "-1 holds numbers (f64), not booleans");
}

TEST_CASE("bind: a retyped tensor has the same values") {
  const Tensor f8 = one(std::uint8_t{0x38}, Storage::code, type("f8e4m3fn"));
  CHECK(f8.at(0) == 1);
  const Tensor wide = as_declared(f8, type("bf16"));
  CHECK(wide.type == type("bf16"));
  CHECK(wide.at(0) == 1);
  CHECK(as_declared(f64({3}), type("bf16")).at(0) == 3);
}
