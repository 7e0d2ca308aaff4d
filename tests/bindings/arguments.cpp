#include "bindings/arguments.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "bindings/literals.hpp"
#include "ir/error.hpp"

using namespace erx;

TEST_CASE("arguments: a value that parses as a number is a number, anything else a file") {
  // Names of a structured binding cannot be used in the messages: they are lambdas, and Clang 14 refuses that.
  for (const auto& pair : std::map<std::string, double>{{"0.3", 0.3}, {"-2", -2}, {"+1e-5", 1e-5}, {".5", 0.5}, {"5.", 5}, {"0x1p-3", 0.125},
                                                                 {"inf", INFINITY}, {"-inf", -INFINITY}, {"1e-400", 0}, {"4.9e-324", 0x1p-1074}}) {
    const std::string& text = pair.first;
    const auto t = number_argument(text, {});
    REQUIRE_MESSAGE(t, text);
    CHECK_MESSAGE(t->at(0) == pair.second, text);
    CHECK(t->type.is_real());
  }
  CHECK(std::isnan(number_argument("nan", {})->at(0)));
  CHECK(std::signbit(number_argument("-0", {})->at(0)));
  for (const char* text : {"3/10", "-3/10", "+6/4"}) {
    CHECK(number_argument(text, {})->storage == Storage::rational);
    CHECK(number_argument(text, {})->type.is_real());
  }
  CHECK(number_argument("true", {})->type.is_boolean());
  for (const char* text : {"a.npy", "3/a.npy", "a/3", "1e5x", "1 ", "", "-", "nano.npy", "info", "3/-1", "--1", "1/2/3", "0x", "2.npy", "bits:a.npy"})
    CHECK_MESSAGE(!number_argument(text, {}), text);
  CHECK_THROWS_AS(number_argument("3/0", {}), Error);
  CHECK_THROWS_AS(number_argument("-1e999", {}), Error);
}

TEST_CASE("arguments: an integer for an integer type stays exact") {
  const Type i64 = Type::integer(64), u64 = Type::integer(64, false);
  CHECK(number_argument("9007199254740993", i64)->storage == Storage::i64);
  CHECK(number_argument("-9223372036854775808", i64)->at(0) == -0x1p63);
  CHECK(number_argument("18446744073709551615", u64)->storage == Storage::u64);
  CHECK(number_argument("+5", i64)->at(0) == 5);
  CHECK(number_argument("5", Type::of(*find_format("bf16")))->type.is_real());
}

TEST_CASE("literals: exact, typed, and refused at their place") {
  const auto source = std::make_shared<Source>(Source{"x.erx", "A = [1, 0.3]"});
  const LiteralTensor l{{2}, {"1", "0.3"}, {source, 4, 12}};
  CHECK(literal_text(l) == "[1, 0.3]");
  CHECK(literal_text({{2, 2}, {"1", "2", "3", "4"}, {}}) == "[[1, 2], [3, 4]]");
  CHECK(literal_text({{}, {"3/10"}, {}}) == "3/10");
  CHECK(literal_text({{0}, {}, {}}) == "[]");
  CHECK(literal_text({{100}, std::vector<std::string>(100, "1"), {}}, 10).size() < 20);
  try {
    tensor_of(l, Type::of(*find_format("bf16")), "A");
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.diagnostics.at(0).what == "A[1] is 0.3, which is no bf16 value (the nearest is 0.30078125)");
    CHECK(e.diagnostics.at(0).span.begin == 4);
    CHECK(e.diagnostics.at(0).label == "declared bf16");
  }
  CHECK_THROWS_AS(tensor_of(l, {}, "A"), Error);
  CHECK(tensor_of({{}, {"3/10"}, {}}, Type::real(), "x").storage == Storage::rational);
  CHECK(tensor_of({{}, {"3/10"}, {}}, {}, "x").storage == Storage::rational);
  CHECK(tensor_of({{3}, {"1/4", "-0", "inf"}, {}}, Type::of(*find_format("f16")), "x").at(0) == 0.25);
  CHECK(std::signbit(tensor_of({{3}, {"1/4", "-0", "inf"}, {}}, Type::of(*find_format("f16")), "x").at(1)));
  CHECK(tensor_of({{2}, {"true", "false"}, {}}, {}, "x").type.is_boolean());
  CHECK(tensor_of({{2}, {"true", "false"}, {}}, Type::boolean(), "x").at(0) == 1);
  CHECK_THROWS_AS(tensor_of({{2}, {"true", "1"}, {}}, {}, "x"), Error);
  CHECK_THROWS_AS(tensor_of({{2}, {"true", "1"}, {}}, Type::boolean(), "x"), Error);
  CHECK_THROWS_AS(tensor_of({{}, {"true"}, {}}, Type::real(), "x"), Error);
  CHECK(tensor_of({{}, {"-0"}, {}}, Type::real(), "x").storage == Storage::f64);
}
