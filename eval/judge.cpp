#include "eval/judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "eval/number_text.hpp"
#include "ops/clones.hpp"
#include "ops/planted.hpp"
#include "ops/rounding.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Set<F64> set_at(const Plane& p, std::size_t i) {
  const std::uint8_t f = p.flags ? (*p.flags)[i] : 0;
  return f & no_reals ? Set<F64>::special(f) : Set<F64>::between(F64::exact(p.lo()[i]), F64::exact(p.hi()[i]), f);
}

std::vector<Set<F64>> sets_at(const std::vector<Plane>& planes, std::size_t i) {
  std::vector<Set<F64>> sets;
  for (const Plane& p : planes) sets.push_back(set_at(p, i));
  return sets;
}

double high(const Set<F64>& s) { return s.is_point ? s.lo.u : s.hi.u; }

bool is_empty(const Set<F64>& s) { return !s.has_reals() && !(s.flags & (has_nan | any_infinity)); }

std::string set_text(const std::vector<Set<F64>>& sets) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " or ") + part; };
  std::uint8_t special = 0;
  for (const Set<F64>& s : sets) {
    special |= s.flags;
    if (!s.has_reals()) continue;
    const double lo = s.lo.d, hi = s.is_point ? s.lo.u : s.hi.u;
    const auto number = [&](double x) { return x == 0 && (s.flags & any_zero) == has_nzero ? std::string("-0.0") : number_text(x + 0.0); };
    add(lo == hi ? "{" + number(lo) + "}" : "[" + number(lo) + ", " + number(hi) + "]");
  }
  if (special & has_pinf) add("inf");
  if (special & has_ninf) add("-inf");
  if (special & has_nan) add("NaN");
  return text.empty() ? "nothing" : text;
}

/// Both parts of one alternative.
std::string set_text(const Set<F64>& re, const Set<F64>& im) {
  const auto is_number = [](const Set<F64>& s) { return s.has_reals() && s.lo.d == high(s) && !(s.flags & (has_nan | any_infinity)); };
  if (is_number(re) && is_number(im)) return "{" + got_text({re.lo.d + 0.0, im.lo.d + 0.0}, true) + "}";
  const auto part = [](const Set<F64>& s) {
    const std::string text = set_text({s});
    return text.find(" or ") == text.npos ? text : "(" + text + ")";
  };
  return part(re) + " + " + part(im) + "j";
}

ERX_VECTOR_CLONES bool covers_all(const double* lo, const double* hi, const double* values, std::size_t n) {
  std::uint64_t outside = 0;
  if (lo == hi) {
    for (std::size_t i = 0; i < n; ++i) outside |= static_cast<std::uint64_t>(lo[i] != values[i]);
    return outside == 0;
  }
  for (std::size_t i = 0; i < n; ++i) outside |= static_cast<std::uint64_t>(!((lo[i] <= values[i]) & (values[i] <= hi[i])));
  return outside == 0;
}

ERX_VECTOR_CLONES bool has_specials(const std::uint8_t* flags, std::size_t n) {
  std::uint8_t found = 0;
  for (std::size_t i = 0; i < n; ++i) found |= flags[i];
  return found & ~any_zero;
}

/// covers_all where sets may hold special values, or nothing else.
ERX_VECTOR_CLONES bool covers_specials(const double* lo, const double* hi, const std::uint8_t* flags, const double* values, std::size_t n) {
  std::uint64_t outside = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(values[i]), magnitude = bits & 0x7fffffffffffffff, infinite = 0x7ff0000000000000, f = flags[i];
    const std::uint64_t is_finite = -static_cast<std::uint64_t>(magnitude < infinite), is_nan = -static_cast<std::uint64_t>(magnitude > infinite), is_negative = -(bits >> 63);
    const std::uint64_t asked = (is_nan & has_nan) | (~is_nan & ((is_negative & has_ninf) | (~is_negative & has_pinf)));
    const std::uint64_t in_range = -static_cast<std::uint64_t>((lo[i] <= values[i]) & (values[i] <= hi[i])) & -static_cast<std::uint64_t>((f & no_reals) == 0);
    outside |= (is_finite & ~in_range) | (~is_finite & -static_cast<std::uint64_t>((f & asked) == 0));
  }
  return outside == 0;
}

}  // namespace

bool Judge::holds(const Set<F64>& s, double v) const {
  if (std::isnan(v)) return s.flags & has_nan;
  if (std::isinf(v)) return s.flags & (v > 0 ? has_pinf : has_ninf);
  if (!s.has_reals()) return false;
  const double lo = s.lo.d, hi = high(s);
  if (!(lo <= v && v <= hi)) return false;
  if (v == 0 && signed_zero_ && !(s.flags & (std::signbit(v) ? has_nzero : has_pzero))) return false;
  return !(members_ && lo != hi && v != lo && v != hi && !is_value(*members_, v));
}

bool Judge::covers(std::size_t i, const Got& got) const {
  if (planted(Mistake::parts_apart) && is_complex()) {
    const auto held = [&](const std::vector<Plane>& planes, double x) {
      return std::any_of(planes.begin(), planes.end(), [&](const Plane& p) { return holds(set_at(p, i), x); });
    };
    return held(sets_.planes, got.re) && held(sets_.imag, got.im);
  }
  for (std::size_t k = 0; k < sets_.planes.size(); ++k)
    if (holds(set_at(sets_.planes[k], i), got.re) && (!is_complex() || holds(set_at(sets_.imag[k], i), got.im))) return true;
  return false;
}

double Judge::numbers(const Set<F64>& s) const { return !s.has_reals() ? 0 : s.lo.d == high(s) ? 1 : counter_(s.lo.d, high(s)); }

double Judge::count(std::size_t i) const {
  const auto specials = [](std::uint8_t f) { return ((f & has_nan) != 0) + ((f & has_pinf) != 0) + ((f & has_ninf) != 0); };
  double count = 0;
  std::uint8_t special = 0;
  for (std::size_t k = 0; k < sets_.planes.size(); ++k) {
    const Set<F64> re = set_at(sets_.planes[k], i);
    if (is_complex()) {
      const Set<F64> im = set_at(sets_.imag[k], i);
      count += (numbers(re) + specials(re.flags)) * (numbers(im) + specials(im.flags));
    } else {
      count += numbers(re);
      special |= re.flags;
    }
  }
  return count + specials(special);
}

std::string Judge::allowed(std::size_t i) const {
  if (!is_complex()) return set_text(sets_at(sets_.planes, i));
  std::string text;
  for (std::size_t k = 0; k < sets_.planes.size(); ++k) {
    const Set<F64> re = set_at(sets_.planes[k], i), im = set_at(sets_.imag[k], i);
    if (!is_empty(re) && !is_empty(im)) text += (text.empty() ? "" : " or ") + set_text(re, im);
  }
  return text.empty() ? "nothing" : text;
}

double Judge::away(const Set<F64>& s, double v) const {
  if (is_complex() && holds(s, v)) return 0;
  if (!std::isfinite(v) || !s.has_reals()) return infinity;
  const double nearest = v < s.lo.d ? s.lo.d : v > high(s) ? high(s) : v;
  return steps_ ? std::fabs(steps_between(*steps_, v, nearest)) : std::fabs(v - nearest);
}

Distance Judge::distance(const Set<F64>& re, const Set<F64>* im, const Got& got) const {
  return {away(re, got.re), im ? away(*im, got.im) : 0};
}

Distance Judge::distance(std::size_t i, const Got& got) const {
  Distance best{infinity, is_complex() ? infinity : 0};
  for (std::size_t k = 0; k < sets_.planes.size(); ++k) {
    const Set<F64> re = set_at(sets_.planes[k], i), im = is_complex() ? set_at(sets_.imag[k], i) : Set<F64>::special(0);
    if (is_complex() && (is_empty(re) || is_empty(im))) continue;
    const Distance d = distance(re, is_complex() ? &im : nullptr, got);
    if (d.ulps() < best.ulps() || (d.ulps() == best.ulps() && d.re + d.im < best.re + best.im)) best = d;
  }
  return best;
}

void Judge::check_simple(std::int64_t first, std::span<const double> values, double& members, std::vector<std::int64_t>& outside) const {
  const Plane& p = sets_.planes[0];
  const double *lo = p.lo() + first, *hi = p.hi() + first;
  const std::uint8_t* const flags = p.flags ? p.flags->data() + first : nullptr;
  const std::size_t n = values.size();
  if (flags && has_specials(flags, n)) {
    const bool points = p.lo_d == p.hi_u;
    for (std::size_t i = 0; i < n; ++i)
      members += std::popcount(static_cast<unsigned>(flags[i] & (has_nan | any_infinity))) + (flags[i] & no_reals ? 0 : points || lo[i] == hi[i] ? 1 : counter_(lo[i], hi[i]));
    if (covers_specials(lo, hi, flags, values.data(), n)) return;
    for (std::size_t i = 0; i < n; ++i)
      if (!covers(static_cast<std::size_t>(first) + i, {values[i]})) outside.push_back(first + static_cast<std::int64_t>(i));
    return;
  }
  if (p.lo_d == p.hi_u) members += static_cast<double>(n);
  else if (const std::optional<std::int64_t> count = counter_.in_total(lo, hi, n)) members += static_cast<double>(*count);
  else
    for (std::size_t i = 0; i < n; ++i) members += lo[i] == hi[i] ? 1 : counter_(lo[i], hi[i]);
  if (covers_all(lo, hi, values.data(), n)) return;
  for (std::size_t i = 0; i < n; ++i)
    if (!(lo[i] <= values[i] && values[i] <= hi[i])) outside.push_back(first + static_cast<std::int64_t>(i));
}

std::string got_text(const Got& got, bool is_complex) {
  if (!is_complex) return number_text(got.re);
  const bool negative = std::signbit(got.im) && !std::isnan(got.im);
  return number_text(got.re) + (negative ? "-" : "+") + number_text(std::fabs(got.im)) + "j";
}

}  // namespace erx
