// Types: names, containment, join.
#include <doctest/doctest.h>

#include "ir/type.hpp"

using namespace erx;

namespace {
Type type(std::string_view name) {
  const auto t = find_type(name);
  REQUIRE_MESSAGE(t.has_value(), name);
  return *t;
}
const std::vector<std::string> names = {"real", "int", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f64", "f32", "f16", "bf16", "tf32",
                                        "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn"};
}  // namespace

TEST_CASE("type: names are read back") {
  for (const auto& name : names) CHECK(to_string(type(name)) == name);
  CHECK(to_string(type("bfloat16")) == "bf16");
  CHECK(!find_type("i7"));
  CHECK(!find_type("Real"));
  CHECK(!find_type(""));
}

TEST_CASE("type: integers are contained where every one of them is a value") {
  const auto in = [](const char* inner, const char* outer) { return contains(type(outer), type(inner)); };
  CHECK(in("i8", "f16"));
  CHECK(in("i8", "bf16"));
  CHECK(in("u8", "bf16"));
  CHECK(!in("i16", "f16"));
  CHECK(in("i16", "f32"));
  CHECK(in("i32", "f64"));
  CHECK(!in("i32", "f32"));
  CHECK(!in("i64", "f64"));
  CHECK(!in("i8", "f8e4m3fn"));
  CHECK(!in("u8", "f8e8m0fnu"));
  CHECK(in("u8", "i16"));
  CHECK(!in("i8", "u16"));
  CHECK(in("i64", "int"));
  CHECK(!in("int", "i64"));
  CHECK(!in("int", "f64"));
  CHECK(in("int", "real"));
  CHECK(in("f64", "real"));
  CHECK(!in("real", "f64"));
  CHECK(!in("bool", "real"));
  CHECK(!in("bool", "i8"));
  CHECK(in("bool", "bool"));
  CHECK(!in("f32", "int"));
  CHECK(!contains(Type::of(make_format({.e = 4, .m = 10, .bias = -12})), type("i8")));  // holds multiples of 8 only, near 0
  for (const char* integer : {"i8", "u8", "i16", "u16"})
    for (const auto& name : names) {
      const Type t = type(integer), outer = type(name);
      if (!outer.is_floating()) continue;
      bool all = true;
      const int low = t.is_signed ? -(1 << (t.bits - 1)) : 0, high = (1 << (t.is_signed ? t.bits - 1 : t.bits)) - 1;
      for (int k = low; k <= high && all; ++k) all = is_value(outer.format, k);
      INFO(integer, " in ", name);
      CHECK(contains(outer, t) == all);
    }
}

TEST_CASE("type: join is the narrower type that holds both, else real") {
  for (const auto& a : names)
    for (const auto& b : names) {
      const Type x = type(a), y = type(b), j = join(x, y);
      INFO(a, " and ", b, " give ", to_string(j));
      CHECK(j == join(y, x));
      if (!x.is_boolean() && !y.is_boolean()) {
        CHECK(contains(j, x));
        CHECK(contains(j, y));
        CHECK((j == x || j == y || j == Type::real()));
      }
    }
  CHECK(join(type("bf16"), type("f32")) == type("f32"));
  CHECK(join(type("bf16"), type("f16")) == Type::real());
  CHECK(join(type("i8"), type("f16")) == type("f16"));
  CHECK(join(type("bool"), type("bool")) == type("bool"));
}

TEST_CASE("type: equality looks only at what the kind uses") {
  CHECK(Type::integer(0, true) == Type::integer(0, false));
  CHECK(!(Type::integer(8, true) == Type::integer(8, false)));
  CHECK(!(type("bf16") == type("f16")));
  CHECK(type("bf16") == Type::of(make_format({.e = 8, .m = 7})));
}
