// Formats as data: codes, neighbours, counts, distances, containment, names and parameters.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "ir/error.hpp"
#include "ir/format.hpp"
#include "tests/format/judge.hpp"

using namespace erx;
using namespace erx::judging;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Format> listed_formats() {
  std::vector<Format> all = small_formats();
  all.push_back(*find_format("bf16"));
  all.push_back(*find_format("f16"));
  all.push_back(make_format({.e = 6, .m = 7, .bias = 20, .inf = Infinities::none, .nan = Nans::negzero}));
  return all;
}

/// Finite values in increasing order, zero once.
std::vector<double> values_of(const Format& f) {
  std::set<double> values;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << f.width(); ++bits) {
    const Meaning v = meaning(f, bits);
    if (v.kind == Meaning::Kind::finite) values.insert(v.negative ? -v.magnitude.get_d() : v.magnitude.get_d() + 0.0);
  }
  return {values.begin(), values.end()};
}

std::string message_of(const FormatParameters& p) {
  try {
    return "accepted as " + make_format(p).name;
  } catch (const Error& e) {
    return e.what();
  }
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("format: every bit pattern of every format up to 16 bits decodes by definition and encodes back") {
  for (const Format& f : listed_formats()) {
    std::size_t wrong = 0;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << f.width(); ++bits) {
      const Meaning v = meaning(f, bits);
      const double got = decode(f, bits);
      double want = std::numeric_limits<double>::quiet_NaN();
      if (v.kind == Meaning::Kind::infinite) want = v.negative ? -infinity : infinity;
      if (v.kind == Meaning::Kind::finite) want = v.negative ? -v.magnitude.get_d() : v.magnitude.get_d();
      wrong += !same(got, want);
      if (v.kind == Meaning::Kind::finite) wrong += exactly(got) != (v.negative ? -v.magnitude : v.magnitude) || !is_value(f, got);
      if (v.kind == Meaning::Kind::finite || v.kind == Meaning::Kind::infinite) {
        const std::uint64_t back = encode(f, got);
        wrong += !same(decode(f, back), got);
        if (f.has_subnormals || f.fraction_bits == 0 || got != 0) wrong += back != bits;  // else many codes of zero
      }
      if (v.kind == Meaning::Kind::nan) wrong += !f.has_nan() || !std::isnan(decode(f, encode(f, got)));
    }
    INFO(f.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("format: NaN codes are the usual ones") {
  const auto code = [](const char* name) { return encode(*find_format(name), std::numeric_limits<double>::quiet_NaN()); };
  CHECK(code("f64") == 0x7ff8000000000000u);
  CHECK(code("f32") == 0x7fc00000u);
  CHECK(code("f16") == 0x7e00u);
  CHECK(code("bf16") == 0x7fc0u);
  CHECK(code("f8e4m3fn") == 0x7fu);
  CHECK(code("f8e4m3") == 0x7cu);
  CHECK(code("f8e5m2") == 0x7eu);
  CHECK(code("f8e4m3fnuz") == 0x80u);
  CHECK(code("f8e8m0fnu") == 0xffu);
  CHECK_THROWS_AS(code("f4e2m1fn"), Bug);
}

TEST_CASE("format: doubles and floats are their own codes") {
  const Format f64 = *find_format("f64"), f32 = *find_format("f32");
  for (double x : random_doubles(f64, 2000, 1)) {
    CHECK(same(decode(f64, std::bit_cast<std::uint64_t>(x)), x));
    CHECK(encode(f64, x) == std::bit_cast<std::uint64_t>(x));
    CHECK(is_value(f64, x));
  }
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const auto x = std::bit_cast<float>(bits);
    CHECK(same(decode(f32, bits), x));
    if (std::isfinite(x)) CHECK(encode(f32, x) == bits);
  }
}

TEST_CASE("format: encode refuses what is no value") {
  CHECK_THROWS_AS(encode(*find_format("bf16"), 1.001), Bug);
  CHECK_THROWS_AS(encode(*find_format("f8e4m3fn"), infinity), Bug);
  CHECK_THROWS_AS(encode(*find_format("f8e4m3fn"), 480), Bug);
  CHECK_THROWS_AS(encode(*find_format("f8e8m0fnu"), 0), Bug);
  CHECK_THROWS_AS(encode(*find_format("f8e8m0fnu"), -1), Bug);
  CHECK(encode(*find_format("f8e4m3fnuz"), -0.0) == 0);
  CHECK(encode(*find_format("f8e4m3fn"), -0.0) == 0x80);
}

TEST_CASE("format: limits as the documents print them") {
  const auto f = [](const char* name) { return *find_format(name); };
  CHECK(f("bf16").max_finite() == 0x1.fep127);
  CHECK(f("bf16").precision() == 8);
  CHECK(f("bf16").unit_roundoff() == 0x1p-8);
  CHECK(f("f16").max_finite() == 65504);
  CHECK(f("f16").min_positive() == 0x1p-24);
  CHECK(f("f32").max_finite() == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(f("f64").max_finite() == std::numeric_limits<double>::max());
  CHECK(f("f64").min_positive() == std::numeric_limits<double>::denorm_min());
  CHECK(f("tf32").min_positive() == 0x1p-136);
  CHECK(f("f8e4m3fn").max_finite() == 448);
  CHECK(f("f8e4m3").max_finite() == 240);
  CHECK(f("f8e5m2").max_finite() == 57344);
  CHECK(f("f8e4m3fnuz").max_finite() == 240);
  CHECK(f("f8e5m2fnuz").max_finite() == 57344);
  CHECK(f("f8e4m3b11fnuz").max_finite() == 30);
  CHECK(f("f8e3m4").max_finite() == 15.5);
  CHECK(f("f8e3m4").min_normal() == 0.25);
  CHECK(f("f8e8m0fnu").max_finite() == 0x1p127);
  CHECK(f("f8e8m0fnu").lowest() == 0x1p-127);
  CHECK(f("f6e2m3fn").max_finite() == 7.5);
  CHECK(f("f6e3m2fn").max_finite() == 28);
  CHECK(f("f4e2m1fn").max_finite() == 6);
  CHECK(f("f4e2m1fn").width() == 4);
  CHECK(f("tf32").width() == 19);
  CHECK(f("f8e5m2").emax() == 15);
  CHECK(f("f8e5m2").emin() == -14);
}

TEST_CASE("format: neighbours, counts and distances follow the list of values") {
  for (const Format& f : listed_formats()) {
    const std::vector<double> values = values_of(f);
    std::size_t wrong = 0;
    CHECK(values.front() == f.lowest());
    CHECK(values.back() == f.max_finite());
    CHECK(count_values(f, -infinity, infinity) == static_cast<double>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = values[i], up = i + 1 < values.size() ? values[i + 1] : infinity, down = i > 0 ? values[i - 1] : -infinity;
      wrong += next_up(f, x) != up || next_down(f, x) != down;
      wrong += count_values(f, x, x) != 1 || count_values(f, values.front(), x) != static_cast<double>(i + 1);
      if (i + 1 == values.size()) break;
      const double middle = mpq_class((exactly(x) + exactly(up)) / 2).get_d();
      if (middle <= x || middle >= up) continue;  // neighbours of float64
      wrong += next_up(f, middle) != up || next_down(f, middle) != x || is_value(f, middle);
      wrong += count_values(f, middle, middle) != 0 || count_values(f, middle, values.back()) != static_cast<double>(values.size() - i - 1);
      wrong += steps_between(f, x, up) != 1 || steps_between(f, up, x) != -1 || steps_between(f, middle, up) != 0;
    }
    std::mt19937 random(9);
    for (int k = 0; k < 300; ++k) {
      const std::size_t i = random() % values.size(), j = random() % values.size();
      wrong += steps_between(f, values[i], values[j]) != static_cast<double>(j) - static_cast<double>(i);
      if (i <= j) wrong += count_values(f, values[i], values[j]) != static_cast<double>(j - i + 1);
    }
    INFO(f.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("format: neighbours at the edges") {
  const Format bf16 = *find_format("bf16"), fnuz = *find_format("f8e4m3fnuz"), e8m0 = *find_format("f8e8m0fnu"), f64 = *find_format("f64");
  CHECK(next_up(bf16, -infinity) == bf16.lowest());
  CHECK(next_down(bf16, infinity) == bf16.max_finite());
  CHECK(next_up(bf16, bf16.max_finite()) == infinity);
  CHECK(next_up(bf16, 1e300) == infinity);
  CHECK(next_down(bf16, 1e300) == bf16.max_finite());
  CHECK(next_up(bf16, -1e300) == bf16.lowest());
  CHECK(next_up(bf16, -0.0) == bf16.min_positive());
  CHECK(next_down(bf16, 0.0) == -bf16.min_positive());
  CHECK(same(next_up(bf16, -bf16.min_positive()), 0.0));
  CHECK(same(next_down(fnuz, fnuz.min_positive()), 0.0));
  CHECK(next_up(bf16, 0x1p-1000) == bf16.min_positive());
  CHECK(next_down(bf16, 0x1p-1000) == 0);
  CHECK(next_down(bf16, -0x1p-1000) == -bf16.min_positive());
  CHECK(next_up(e8m0, 0) == 0x1p-127);
  CHECK(next_up(e8m0, -5) == 0x1p-127);
  CHECK(next_down(e8m0, 0x1p-127) == -infinity);
  CHECK(std::isnan(next_up(bf16, std::nan(""))));
  CHECK(next_up(f64, 1) == std::nextafter(1.0, 2.0));
  CHECK(next_down(f64, 0) == -std::numeric_limits<double>::denorm_min());
  CHECK(count_values(bf16, 2, 1) == 0);
  CHECK(count_values(bf16, -0.0, 0.0) == 1);
  CHECK(count_values(e8m0, -4, 4) == 130);
  CHECK(count_values(f64, 1, 2) == 0x1p52 + 1);
  CHECK(count_values(f64, -infinity, infinity) == 2 * (2047.0 * 0x1p52));
  CHECK(count_values(bf16, 1e300, infinity) == 0);
  CHECK(steps_between(bf16, -bf16.min_positive(), bf16.min_positive()) == 2);
  CHECK(steps_between(bf16, 1, infinity) == infinity);
  CHECK(steps_between(bf16, infinity, infinity) == 0);
}

TEST_CASE("format: contains is inclusion of the lists of values and special codes") {
  std::vector<Format> all = small_formats();
  for (const Format& f : all_formats())
    if (f.width() > 8) all.push_back(f);
  std::size_t contained = 0;
  for (const Format& inner : all) {
    if (inner.width() > 16) continue;
    const std::vector<double> values = values_of(inner);
    for (const Format& outer : all) {
      bool want = std::all_of(values.begin(), values.end(), [&](double x) { return is_value(outer, x); });
      want = want && (!inner.has_nan() || outer.has_nan()) && (!inner.has_infinity() || outer.has_infinity()) &&
             (!inner.has_negative_zero() || outer.has_negative_zero());
      INFO(inner.name, " in ", outer.name);
      CHECK(contains(outer, inner) == want);
      contained += want;
    }
  }
  CHECK(contained > 100);
  const auto in = [](const char* inner, const char* outer) { return contains(*find_format(outer), *find_format(inner)); };
  CHECK(in("f32", "f64"));
  CHECK(in("tf32", "f32"));
  CHECK(in("bf16", "tf32"));
  CHECK(!in("tf32", "bf16"));
  CHECK(!in("f64", "f32"));
  CHECK(in("f16", "tf32"));
  CHECK(!in("f16", "bf16"));
  CHECK(in("f8e8m0fnu", "bf16"));
  CHECK(!in("f8e8m0fnu", "f16"));
}

TEST_CASE("format: names and aliases find their row, and no name means two formats") {
  std::set<std::string> seen;
  for (const std::string& name : format_names()) {
    INFO(name);
    CHECK(seen.insert(name).second);
    CHECK(find_format(name) != nullptr);
  }
  for (const Format& f : all_formats()) {
    CHECK(find_format(f.name) != nullptr);
    CHECK(*find_format(f.name) == f);
    CHECK(find_format(f.name)->name == f.name);
    CHECK(!f.source.empty());
    for (const std::string& alias : format_aliases(f)) CHECK(*find_format(alias) == f);
  }
  CHECK(all_formats().size() == 16);
  for (const auto& [alias, name] : std::vector<std::pair<const char*, const char*>>{
           {"bfloat16", "bf16"}, {"float8_e4m3fn", "f8e4m3fn"}, {"half", "f16"}, {"float64", "f64"}, {"float32", "f32"}, {"float16", "f16"},
           {"double", "f64"}, {"torch.bfloat16", "bf16"}, {"torch.half", "f16"}, {"torch.float", "f32"}, {"torch.float8_e5m2", "f8e5m2"},
           {"torch.float8_e4m3fnuz", "f8e4m3fnuz"}, {"float8_e4m3", "f8e4m3"}, {"float8_e5m2", "f8e5m2"}, {"float8_e4m3fnuz", "f8e4m3fnuz"},
           {"float8_e5m2fnuz", "f8e5m2fnuz"}, {"float8_e4m3b11fnuz", "f8e4m3b11fnuz"}, {"float8_e3m4", "f8e3m4"},
           {"float8_e8m0fnu", "f8e8m0fnu"}, {"float6_e2m3fn", "f6e2m3fn"}, {"float6_e3m2fn", "f6e3m2fn"}, {"float4_e2m1fn", "f4e2m1fn"}}) {
    const std::string word = alias;  // messages are lambdas: Clang 14 refuses names of a structured binding in them
    INFO(word);
    REQUIRE(find_format(word) != nullptr);
    CHECK(find_format(word)->name == name);
  }
  CHECK(find_format("float") == nullptr);  // float64 in Python, float32 in C
  CHECK(find_format("f33") == nullptr);
  CHECK(find_format("") == nullptr);
}

TEST_CASE("format: float<...> is a named format where it has the same values and codes") {
  CHECK(make_format({.e = 8, .m = 10}).name == "tf32");
  CHECK(make_format({.e = 8, .m = 7}) == *find_format("bf16"));
  CHECK(make_format({.e = 4, .m = 3, .inf = Infinities::none, .nan = Nans::top}).name == "f8e4m3fn");
  CHECK(make_format({.e = 5, .m = 2, .bias = 16, .inf = Infinities::none, .nan = Nans::negzero}).name == "f8e5m2fnuz");
  CHECK(make_format({.e = 11, .m = 52}).name == "f64");
  CHECK(make_format({.e = 8, .m = 9}).name == "float<e=8, m=9>");
  CHECK(make_format({.e = 5, .m = 3, .bias = 7, .sign = false, .inf = Infinities::none, .nan = Nans::none, .subnormals = false}).name ==
        "float<e=5, m=3, bias=7, sign=no, inf=none, nan=none, subnormals=no>");
  CHECK(!(make_format({.e = 8, .m = 10, .subnormals = false}) == *find_format("tf32")));
}

TEST_CASE("format: float<...> refuses what makes no format, and says why") {
  CHECK(has(message_of({.e = 0, .m = 3}), "1 to 11"));
  CHECK(has(message_of({.e = 12, .m = 3}), "1 to 11"));
  CHECK(has(message_of({.e = 5, .m = -1}), "0 to 52"));
  CHECK(has(message_of({.e = 5, .m = 53}), "0 to 52"));
  CHECK(has(message_of({.e = 1, .m = 3}), "no code is left"));
  CHECK(has(message_of({.e = 1, .m = 0, .inf = Infinities::none, .nan = Nans::top}), "no code is left"));
  CHECK(has(message_of({.e = 4, .m = 0}), "share one code"));
  CHECK(has(message_of({.e = 4, .m = 3, .sign = false, .nan = Nans::negzero}), "sign=yes"));
  CHECK(has(message_of({.e = 11, .m = 20, .inf = Infinities::none, .nan = Nans::none}), "raise bias"));
  CHECK(has(message_of({.e = 8, .m = 7, .bias = 1070}), "lower bias"));
  CHECK(has(message_of({.e = 8, .m = 7, .bias = -900}), "raise bias"));
  CHECK(has(message_of({.e = 8, .m = 7, .bias = 2000000000}), "bias is"));
  CHECK(has(message_of({.e = 2, .m = 1}), "accepted"));
  CHECK(has(message_of({.e = 11, .m = 52, .inf = Infinities::none, .nan = Nans::none, .subnormals = false}), "raise bias"));
  CHECK(has(message_of({.e = 10, .m = 52, .bias = 511}), "accepted"));
}
