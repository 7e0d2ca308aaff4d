// Size, depth and time: what a user or a machine may write by mistake is an error at once, never a crash.
#include <doctest/doctest.h>

#include <ctime>
#include <functional>

#include "helpers.hpp"
#include "ir/print.hpp"

using namespace erx;
using namespace erx::test;

namespace {

std::string repeat(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

/// Of this processor, whatever else the machine does.
double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

bool mentions(const std::string& text, const std::string& what) { return text.find(what) != text.npos; }

}  // namespace

TEST_CASE("limits: depth is an error, not a crash") {
  for (const std::string& text : {repeat("(", 10000) + "x" + repeat(")", 10000), repeat("exp(", 5000) + "x" + repeat(")", 5000),
                                  repeat("[", 10000), repeat("round<f32>(", 3000) + "x" + repeat(")", 3000), repeat("x[", 10000),
                                  repeat("round<", 10000), repeat("-", 10000) + "x", repeat("not ", 10000) + "x", repeat("in f32 {", 10000),
                                  repeat("- ", 100000) + "x", "x" + repeat("**x", 10000), repeat("{", 10000)}) {
    const std::string told = mistakes(text);
    INFO(text.substr(0, 40));
    CHECK(told != "");
    CHECK(told.size() < 20000);
  }
  CHECK(mistakes(repeat("(", 150) + "x" + repeat(")", 150)) == "");
}

TEST_CASE("limits: long chains are no depth") {
  for (const char* op : {" + a", " - a", " * a", " @ a", " or a", " and a", " / a"}) {
    CHECK(mistakes("a" + repeat(op, 10000)) == "");
  }
  const auto g = lower("in f32, contract { a" + repeat(" + a * a", 2000) + " }", {"a=f32[2]"});
  CHECK(g->size() > 8000);
  CHECK(lower("a" + repeat("[0:2]", 200) + repeat(".T", 200), {"a=f32[2]"})->size() == 401);
  for (const char* text : {" + a", " * a"}) CHECK(mistakes("a" + repeat(text, 100000)).find("20000 terms") != std::string::npos);
  CHECK(mistakes("acc<f32>(a" + repeat(" + a", 100000) + ")").find("20000 terms") != std::string::npos);
  CHECK(mistakes("a" + repeat(".T", 100000)) != "");
}

TEST_CASE("limits: time is linear") {
  CHECK(seconds([] { parse(repeat("(", 20) + "x" + repeat(")", 20)); }) < 5);
  CHECK(seconds([] { parse(repeat("f32(", 60) + "x" + repeat(")", 60)); }) < 5);
  CHECK(seconds([] { mistakes(repeat("x[", 20) + "0" + repeat("]", 20)); }) < 5);
  CHECK(seconds([] { mistakes(repeat("any_of(", 60) + "x y" + repeat(")", 60)); }) < 5);
  std::string megabyte = "spec f(x: f32[N]) -> f32[N] {\n";
  for (int i = 0; megabyte.size() < 1000000; ++i)
    megabyte += "  let y" + std::to_string(i) + " = round<f32>(x * x + " + std::to_string(i) + ")\n";
  megabyte += "  return y0\n}\n";
  CHECK(seconds([&] { parse(megabyte); }) < 20);
  CHECK(seconds([&] { format_source({"x", megabyte}); }) < 20);
}

TEST_CASE("limits: files") {
  CHECK_THROWS_AS(parse(std::string(10000000, ' ')), Error);
  CHECK(mentions(mistakes(std::string(10000000, 'x')), "at most"));
  CHECK(mistakes(std::string("x\0y", 3)) != "");
  CHECK(mistakes("") != "");
  CHECK(mistakes("\xff\xfe") != "");
  CHECK_THROWS_AS(load("no/such/file.erx"), Error);
  CHECK_THROWS_AS(load("."), Error);
}

TEST_CASE("limits: numbers") {
  CHECK(mistakes("x + 1e99999999") != "");
  CHECK(mistakes("x + " + std::string(100000, '9')) != "");
  CHECK(mistakes("x[99999999999999999999]") != "");
  CHECK(mistakes("round<float<e=99999999999999999999, m=3>>(x)") != "");
  CHECK(mistakes("reshape(x, 3000000000 * 3000000000 * 3000000000)", {"x=f32[2]"}) != "");
}
