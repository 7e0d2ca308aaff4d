#include "bindings/draw.hpp"

#include <algorithm>
#include <cmath>

#include "ops/rounding.hpp"

namespace erx {
namespace {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  /// 53 random bits.
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) >> 11;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<double> draw(const Generator& g, std::int64_t count) {
  SplitMix64 words(g.seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& x : values) {
    if (g.kind == Generator::Kind::normal) {
      std::int64_t sum = 0;
      for (int k = 0; k < 12; ++k) sum += static_cast<std::int64_t>(words.next());
      x = g.first + g.second * (static_cast<double>(sum - 6 * (std::int64_t{1} << 53)) * 0x1p-53);
    } else {
      const double u = static_cast<double>(words.next()) * 0x1p-53, part = (g.second - g.first) * u;
      x = g.first + (g.kind == Generator::Kind::integers ? std::floor(part) : part);
    }
  }
  return values;
}

double nearest_in(const Type& type, double x) {
  if (type.is_boolean()) return x != 0;
  if (type.is_floating()) return round_to(x, type.format, {.overflow = Overflow::sat});
  if (!type.is_integer()) return x;
  const double even = std::nearbyint(x);  // the default mode, to even, is in force: no one changes it
  if (type.bits == 0) return even;
  const int bits = type.bits - (type.is_signed ? 1 : 0);
  const double most = bits > 53 ? 0x1p53 : std::ldexp(1.0, bits) - 1;
  return std::clamp(even, type.is_signed ? -std::ldexp(1.0, std::min(bits, 53)) : 0, most);
}

}  // namespace erx
