#include "ops/number_tile.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "ops/clones.hpp"
#include "ops/num/set.hpp"

namespace erx {
namespace {

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63, infinite = std::uint64_t{0x7ff} << 52;

[[gnu::always_inline]] inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

struct Odd {
  std::uint64_t zero, special;
};

ERX_VECTOR_CLONES Odd find_odd(const double* x, std::size_t n) {
  std::uint64_t zero = 0, special = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t a = bits_of(x[i]) & ~sign_bit;
    zero |= static_cast<std::uint64_t>(a == 0);
    special |= static_cast<std::uint64_t>(a >= infinite);
  }
  return {zero, special};
}

ERX_VECTOR_CLONES bool one_array(const double* d, const double* u, std::size_t n) {
  std::uint64_t apart = 0;
  for (std::size_t i = 0; i < n; ++i) apart |= static_cast<std::uint64_t>(!(d[i] == u[i]));
  return apart == 0;
}

ERX_VECTOR_CLONES void sign_zeros(double* x, const std::uint8_t* flags, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t sign = static_cast<std::uint64_t>(flags[i] == has_nzero) << 63;
    x[i] = bits_of(x[i]) << 1 == 0 ? std::bit_cast<double>(sign) : x[i];
  }
}

/// Do the flags say what the doubles do?
ERX_VECTOR_CLONES bool are_told(const double* x, const std::uint8_t* flags, std::size_t n) {
  std::uint64_t untold = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t expected = bits_of(x[i]) << 1 == 0 ? std::uint64_t{has_pzero} << (bits_of(x[i]) >> 63) : 0;
    untold |= (flags[i] ^ expected) | static_cast<std::uint64_t>((bits_of(x[i]) & ~sign_bit) >= infinite);
  }
  return untold == 0;
}

static_assert(has_nzero == has_pzero << 1);

}  // namespace

ERX_VECTOR_CLONES void zero_flags(const double* x, std::uint8_t* flags, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) flags[i] = static_cast<std::uint8_t>(bits_of(x[i]) << 1 == 0 ? has_pzero << (bits_of(x[i]) >> 63) : 0);
}

Decoded look_at(const double* values, std::size_t n) {
  const Odd odd = find_odd(values, n);
  return odd.special ? Decoded::special : odd.zero ? Decoded::numbers : Decoded::nonzero;
}

Decoded fill_flags(double* values, std::uint8_t* flags, std::size_t n) {
  const Decoded found = look_at(values, n);
  if (found == Decoded::nonzero) return found;
  zero_flags(values, flags, n);
  if (found == Decoded::numbers) return found;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(values[i])) continue;
    flags[i] = flags_of(values[i]);
    values[i] = 0;
  }
  return found;
}

bool all_flags_zero(const std::uint8_t* flags, std::size_t n) {
  std::uint64_t any = 0;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, flags + i, 8);
    any |= eight;
  }
  for (; i < n; ++i) any |= flags[i];
  return any == 0;
}

bool are_numbers(const Tile& t, std::size_t n) {
  if (!t.is_point || t.lo_d != t.lo_u) return false;
  return t.plain ? look_at(t.lo_d, n) == Decoded::nonzero : are_told(t.lo_d, t.flags, n);
}

void settle_point(Tile& t, std::size_t n) {
  t.plain = all_flags_zero(t.flags, n);
  if (t.lo_d != t.lo_u && !one_array(t.lo_d, t.lo_u, n)) return;
  t.lo_u = t.hi_d = t.hi_u = t.lo_d;
  if (!t.plain) sign_zeros(t.lo_d, t.flags, n);
  t.numbers = are_numbers(t, n);
}

}  // namespace erx
