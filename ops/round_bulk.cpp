#include "ops/round_bulk.hpp"

#include <algorithm>

#include "ir/error.hpp"
#include "ops/clones.hpp"


namespace erx {
namespace {

constexpr std::size_t block = 16;  // a loop of constant length is vectorised at -O2 too

template <Mode mode, bool usual>
[[gnu::always_inline]] inline void round_array(const double* in, double* out, std::size_t n, const BulkConstants& constants) {
  const BulkConstants k = constants;
  std::size_t i = 0;
  for (; i + block <= n; i += block) {
    ERX_INDEPENDENT  // in may be out, at the same index
    for (std::size_t j = 0; j < block; ++j) out[i + j] = bulk::round_one<mode, usual>(in[i + j], k);
  }
  for (; i < n; ++i) out[i] = bulk::round_one<mode, usual>(in[i], k);
}

#define ERX_ROUND_ARRAY(mode)                                                                                                               \
  ERX_VECTOR_CLONES void usual_##mode(const double* in, double* out, std::size_t n, const BulkConstants& k) { round_array<Mode::mode, true>(in, out, n, k); } \
  ERX_VECTOR_CLONES void unusual_##mode(const double* in, double* out, std::size_t n, const BulkConstants& k) { round_array<Mode::mode, false>(in, out, n, k); }
ERX_ROUND_ARRAY(rne)
ERX_ROUND_ARRAY(rna)
ERX_ROUND_ARRAY(rtz)
ERX_ROUND_ARRAY(rtp)
ERX_ROUND_ARRAY(rtn)
#undef ERX_ROUND_ARRAY

bool has_room(const Format& f) {
  const int p = f.precision();
  return p <= 51                                       // x + M stays in the binade of M
         && f.emax() + 1 + 53 - p <= 1022              // M is finite
         && f.emin() >= -1022;                         // the exponent bits of x tell its power of two
}

bool is_usual(const Format& f) { return f.has_subnormals && f.has_sign && f.has_zero; }

/// Is a number below the smallest normal rounded as one above it, or to the smallest value in any case?
bool has_simple_end(const Format& f) { return f.has_zero ? f.has_subnormals : !f.has_subnormals; }

}  // namespace

BulkRounding::BulkRounding(Format format, Rounding rounding) : format_(std::move(format)), rounding_(rounding) {
  if (rounding_.mode == Mode::sr || rounding_.mode == Mode::faithful) throw Bug("a rounding with two results needs a direction");
  const Format& f = format_;
  const bool in_loops = has_room(f) && rounding_.mode != Mode::rto;
  fast_ = in_loops && is_usual(f);
  unusual_ = in_loops && !f.has_sign && has_simple_end(f);
  if (!fast_ && !unusual_) return;
  const int p = f.precision();
  constants_.least_power = f.min_normal();
  constants_.greatest_power = std::ldexp(1.0, f.emax() + 1);
  constants_.magic = std::ldexp(1.5, 53 - p);
  constants_.quantum = std::ldexp(1.0, 1 - p);
  constants_.half_quantum = std::ldexp(1.0, -p);
  constants_.max_finite = f.max_finite();
  constants_.flush_below = rounding_.flush == Flush::yes && f.has_zero ? f.min_normal() : 0;
  const bool nearest = rounding_.mode == Mode::rne || rounding_.mode == Mode::rna, saturates = rounding_.overflow == Overflow::sat || rounding_.overflow == Overflow::sat_finite;
  constants_.least = f.has_zero ? 0 : f.min_positive();
  const double half = f.min_positive() / 2;  // a tie, whose even neighbour is 0
  constants_.least_argument = f.has_zero && nearest ? (rounding_.mode == Mode::rne ? -half : std::nextafter(-half, 0)) : f.has_zero || saturates ? 0 : 0x1p-1074;
  constants_.zero = f.has_negative_zero() ? -0.0 : 0.0;
  for (const bool negative : {false, true}) {
    constants_.overflow[negative] = overflow_result(negative, f, rounding_);
    constants_.infinite[negative] = round_infinity(negative, f, rounding_);
  }
}

double BulkRounding::one(double x) const {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return round_infinity(x < 0, format_, rounding_);
  return round_to(x, format_, rounding_);
}

void BulkRounding::operator()(const double* in, double* out, std::size_t n) const {
  const auto loop = [&](auto usual, auto unusual) { return (fast_ ? usual : unusual)(in, out, n, constants_); };
  if (fast_ || unusual_) switch (rounding_.mode) {
      case Mode::rne: return loop(usual_rne, unusual_rne);
      case Mode::rna: return loop(usual_rna, unusual_rna);
      case Mode::rtz: return loop(usual_rtz, unusual_rtz);
      case Mode::rtp: return loop(usual_rtp, unusual_rtp);
      case Mode::rtn: return loop(usual_rtn, unusual_rtn);
      default: break;
    }
  for (std::size_t i = 0; i < n; ++i) out[i] = one(in[i]);
}

std::size_t BulkRounding::enclosures(const double* below, const double* above, double* lo, double* hi, std::size_t n) const {
  constexpr std::size_t chunk = 1024;  // both ends of a chunk stay in the cache
  std::size_t undecided = 0;
  for (std::size_t first = 0; first < n; first += chunk) {
    const std::size_t m = std::min(chunk, n - first);
    (*this)(below + first, lo + first, m);
    (*this)(above + first, hi + first, m);
    for (std::size_t i = first; i < first + m; ++i) {
      const bool both_nan = std::isnan(lo[i]) && std::isnan(hi[i]);
      undecided += !both_nan && std::bit_cast<std::uint64_t>(lo[i]) != std::bit_cast<std::uint64_t>(hi[i]);
    }
  }
  return undecided;
}

}  // namespace erx
