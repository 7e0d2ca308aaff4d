// Numbers rounded from array to array: element by element what round_to gives, with the flags of zeros and overflows.
#include <doctest/doctest.h>

#include <bit>
#include <vector>

#include "eval/buffer.hpp"
#include "ops/num/set.hpp"
#include "ops/round_run.hpp"
#include "ops/stream_copy.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

enum class Data { regular, with_zeros, with_overflow, not_finite };

template <class T>
std::vector<T> numbers(const Format& f, Data data, std::size_t n, std::mt19937_64& random) {
  std::vector<T> x(n);
  const int low = std::max(f.emin() - f.precision() + 1, std::is_same_v<T, float> ? -140 : -1070), high = std::min(f.emax(), std::is_same_v<T, float> ? 126 : 1022);
  for (T& v : x) {
    const int exponent = low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low));
    double m = 1 + static_cast<double>(random() % 4096) * 0x1p-12;
    if (random() % 3 == 0) m += random() % 2 ? 0x1p-40 : -0x1p-40;  // beside midpoints
    v = static_cast<T>(std::ldexp(random() % 2 ? m : -m, exponent));
    if (data == Data::with_zeros && random() % 40 == 0) v = random() % 2 ? T{0} : -T{0};
    if (data == Data::with_zeros && random() % 40 == 0) v = static_cast<T>(std::ldexp(m, low - 2));
    if (data == Data::with_overflow && random() % 40 == 0) v = static_cast<T>(std::ldexp(random() % 2 ? m : -m, std::min(f.emax() + static_cast<int>(random() % 3), std::is_same_v<T, float> ? 127 : 1023)));
  }
  if (data == Data::not_finite) x[random() % n] = random() % 2 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
  return x;
}

template <class T>
void check(const Format& f, const Rounding& rounding, Data data, std::size_t n, std::size_t offset, bool past_caches, std::mt19937_64& random, std::int64_t& compared) {
  const BulkRounding round(f, rounding);
  if (!can_round_run(round)) return;
  const std::vector<T> x = numbers<T>(f, data, n, random);
  erx::Doubles plain(n + 8, 7.0), full(n + 8, 7.0);
  std::vector<std::uint8_t> flags(n + 1, 0x55);
  const Decoded found = round_run(round, x.data(), plain.data() + offset, n, past_caches);
  const bool finite = round_run(round, x.data(), full.data() + offset, flags.data(), n, past_caches);
  end_of_stream();
  bool any_zero_found = false, special = false;
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    if (!std::isfinite(v)) {
      special = true;
      continue;
    }
    const double r = round_to(v, f, rounding), got = full[offset + i], simple = plain[offset + i];
    const bool number = std::isfinite(r);
    const std::uint8_t expected = !number ? static_cast<std::uint8_t>(no_reals | (std::isnan(r) ? has_nan : r > 0 ? has_pinf : has_ninf)) : r == 0 ? (std::signbit(r) ? has_nzero : has_pzero) : 0;
    any_zero_found |= r == 0;
    special |= !number;
    if (finite) wrong += flags[i] != expected || std::bit_cast<std::uint64_t>(got) != std::bit_cast<std::uint64_t>(number ? r : 0.0);
    if (found != Decoded::special) wrong += std::bit_cast<std::uint64_t>(simple) != std::bit_cast<std::uint64_t>(r);
    ++compared;
  }
  CHECK_MESSAGE(wrong == 0, f.name << ", " << n << " elements, data " << static_cast<int>(data));
  CHECK(finite == (data != Data::not_finite));
  if (special) CHECK(found == Decoded::special);
  if (found == Decoded::nonzero) CHECK(!any_zero_found);
  if (found == Decoded::numbers) CHECK(any_zero_found);
  CHECK(flags[n] == 0x55);  // nothing is written behind the end
  CHECK(plain[offset + n] == 7);
  CHECK(full[offset + n] == 7);
}

}  // namespace

TEST_CASE("rounding from array to array: every format and direction is round_to, with its flags") {
  std::mt19937_64 random(3);
  std::int64_t compared = 0;
  std::vector<Format> formats(all_formats().begin(), all_formats().end());
  formats.push_back(make_format({.e = 4, .m = 5, .sign = false}));  // where negative numbers saturate they become 0
  for (const Format& f : formats)
    for (const Mode mode : {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn})
      for (const Overflow overflow : {Overflow::by_format, Overflow::sat, Overflow::nosat})
        for (const Data data : {Data::regular, Data::with_zeros, Data::with_overflow, Data::not_finite})
          for (const bool past_caches : {false, true}) {
            const std::size_t n = random() % 4 ? 1 + random() % 300 : 1024 + random() % 500, offset = random() % 3 ? 0 : random() % 8;
            check<double>(f, {mode, overflow}, data, n, offset, past_caches, random, compared);
            check<float>(f, {mode, overflow}, data, n, offset, past_caches, random, compared);
          }
  CHECK(compared > 500000);
  CHECK(!can_round_run(BulkRounding(*find_format("bf16"), {Mode::rto})));
  CHECK(!can_round_run(BulkRounding(*find_format("bf16"), {Mode::rne, Overflow::by_format, Flush::yes})));
  CHECK(can_round_run(BulkRounding(*find_format("f8e8m0fnu"), {})));
  CHECK(!can_round_run(BulkRounding(*find_format("f64"), {})));
}
