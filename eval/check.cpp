#include "eval/check.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "eval/locate.hpp"
#include "eval/number_text.hpp"
#include "eval/parallel.hpp"
#include "ir/print.hpp"
#include "ops/clones.hpp"
#include "ops/op.hpp"

namespace erx {
namespace {

/// How an output is compared with a result.
struct OutputRule {
  std::optional<Format> store;      // the result is rounded into it first
  std::optional<Format> counted;    // members are counted in its values
  std::optional<Format> members;    // set: an output has to be a value of it
};

std::string type_error(const std::string& name, const Type& output, const Type& result) {
  return "output" + (name.empty() ? std::string() : " '" + name + "'") + " has type " + to_string(output) + ", but the result is " + to_string(result);
}

OutputRule output_rule(const Graph& graph, const Result& result, const Tensor& output) {
  const Type& type = result.declared ? *result.declared : graph[result.node].type;
  const Type& node_type = graph[result.node].type;
  OutputRule c;
  if (type.is_boolean() != output.type.is_boolean()) throw Error(type_error(result.name, output.type, type));
  if (output.type.is_integer() && !type.is_integer())
    throw Error(type_error(result.name, output.type, type) + ": a real result is stored in a floating-point format");
  if (!output.type.is_floating()) return c;
  if (!result.declared && !contains(output.type, type)) {
    c.store = output.type.format;
    c.counted = c.store;
    return c;
  }
  c.counted = node_type.is_floating() && contains(output.type, node_type) ? node_type.format : output.type.format;
  if (node_type.is_floating() && !contains(node_type, output.type)) c.members = node_type.format;
  return c;
}

void require_extents(const Result& result, const Extents& expected, const Tensor& output) {
  if (output.extents == expected) return;
  throw Error("output" + (result.name.empty() ? std::string() : " '" + result.name + "'") + " has shape " + to_string(shape_of(output.extents)) +
              ", but the result has shape " + to_string(shape_of(expected)));
}

std::uint8_t flags_at(const Plane& p, std::size_t i) { return p.flags ? (*p.flags)[i] : 0; }

bool is_covered(const SetTensor& t, std::size_t i, double v, bool signed_zero, const std::optional<Format>& members) {
  for (const Plane& p : t.planes) {
    const std::uint8_t f = flags_at(p, i);
    if (std::isnan(v)) {
      if (f & has_nan) return true;
      continue;
    }
    if (std::isinf(v)) {
      if (f & (v > 0 ? has_pinf : has_ninf)) return true;
      continue;
    }
    if (f & no_reals) continue;
    const double lo = p.lo()[i], hi = p.hi()[i];
    if (!(lo <= v && v <= hi)) continue;
    if (v == 0 && signed_zero && !(f & (std::signbit(v) ? has_nzero : has_pzero))) continue;
    if (members && lo != hi && v != lo && v != hi && !is_value(*members, v)) continue;
    return true;
  }
  return false;
}

ERX_VECTOR_CLONES bool covers_all(const double* lo, const double* hi, const double* values, std::size_t n) {
  std::uint64_t outside = 0;
  for (std::size_t i = 0; i < n; ++i) outside |= static_cast<std::uint64_t>(!((lo[i] <= values[i]) & (values[i] <= hi[i])));
  return outside == 0;
}

/// What the rank of a value among those of its format needs.
struct RankRule {
  double normal = 0, per_step = 0;  // smallest normal; 1 / smallest subnormal
  int shift = 0;                    // unused fraction bits of a double
  std::int64_t first = 0;           // rank of the smallest normal is taken from its bits, less this
};

[[gnu::always_inline]] inline std::int64_t rank_of(double x, const RankRule& k) {
  const std::int64_t bits = std::bit_cast<std::int64_t>(x), magnitude = bits & 0x7fffffffffffffff, sign = bits >> 63;
  const double a = std::bit_cast<double>(magnitude);
  const std::int64_t is_small = -static_cast<std::int64_t>(a < k.normal);
  const std::int64_t small = static_cast<std::int64_t>(std::bit_cast<double>(magnitude & is_small) * k.per_step), large = (magnitude >> k.shift) - k.first;
  const std::int64_t r = (small & is_small) | (large & ~is_small);
  return (r ^ sign) - sign;
}

[[gnu::always_inline]] inline std::uint64_t is_off_grid(double x, const RankRule& k) {
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffff;
  const double a = std::bit_cast<double>(magnitude);
  const std::uint64_t is_small = -static_cast<std::uint64_t>(a < k.normal);
  const double steps = std::bit_cast<double>(magnitude & is_small) * k.per_step;
  const std::uint64_t off = static_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(steps)) != steps);
  return off | (((magnitude & ((std::uint64_t{1} << k.shift) - 1)) != 0) & ~is_small);
}

struct RankCount {
  std::int64_t count;
  std::uint64_t off_grid;
};

ERX_VECTOR_CLONES RankCount count_by_ranks(const double* lo, const double* hi, std::size_t n, const RankRule& rule) {
  const RankRule k = rule;
  std::int64_t count = 0;
  std::uint64_t off_grid = 0;
  for (std::size_t i = 0; i < n; ++i) {
    off_grid |= is_off_grid(lo[i], k) | is_off_grid(hi[i], k);
    count += rank_of(hi[i], k) - rank_of(lo[i], k) + 1;
  }
  return {count, off_grid};
}

/// count_values for ends that are values of the format, by bits.
class MemberCounter {
 public:
  explicit MemberCounter(const std::optional<Format>& format) : format_(format) {
    if (!format) return;
    const Format& f = *format;
    by_bits_ = f.has_sign && f.has_subnormals && f.has_zero && f.emin() - f.fraction_bits >= -1000;
    if (!by_bits_) return;
    rule_ = {f.min_normal(), 1 / f.min_positive(), 52 - f.fraction_bits, (std::int64_t{1023 + f.emin() - 1}) << f.fraction_bits};
  }

  double operator()(double lo, double hi) const {
    if (!format_) return std::floor(hi) - std::ceil(lo) + 1;
    if (!by_bits_ || is_off_grid(lo, rule_) || is_off_grid(hi, rule_)) return count_values(*format_, lo, hi);
    return static_cast<double>(rank_of(hi, rule_) - rank_of(lo, rule_) + 1);
  }

  /// Of n intervals together; nothing where an end is not a value of the format.
  std::optional<std::int64_t> in_total(const double* lo, const double* hi, std::size_t n) const {
    if (!by_bits_) return {};
    const RankCount c = count_by_ranks(lo, hi, n, rule_);
    return c.off_grid ? std::nullopt : std::optional(c.count);
  }

 private:
  std::optional<Format> format_;
  bool by_bits_ = false;
  RankRule rule_;
};

double count_members(const SetTensor& t, std::size_t i, const MemberCounter& counted) {
  double count = 0;
  std::uint8_t special = 0;
  for (const Plane& p : t.planes) {
    const std::uint8_t f = flags_at(p, i);
    special |= f;
    if (f & no_reals) continue;
    const double lo = p.lo()[i], hi = p.hi()[i];
    count += lo == hi ? 1 : counted(lo, hi);
  }
  return count + ((special & has_nan) != 0) + ((special & has_pinf) != 0) + ((special & has_ninf) != 0);
}

/// Is every set of the block one interval of numbers?
bool is_plain(const Plane& p, std::int64_t first, std::int64_t count) {
  std::uint8_t found = 0;
  if (p.flags)
    for (std::int64_t i = 0; i < count; ++i) found |= (*p.flags)[static_cast<std::size_t>(first + i)];
  return !(found & ~any_zero);
}

/// Such a block, without branches. Ends that are values of the format are counted by their ranks; `outside` lists what is not covered.
void check_plain(const Plane& p, std::int64_t first, const Doubles& values, const MemberCounter& counter, double& members,
                 std::vector<std::int64_t>& outside) {
  const double *lo = p.lo() + first, *hi = p.hi() + first;
  const std::size_t n = values.size();
  if (const std::optional<std::int64_t> count = counter.in_total(lo, hi, n)) members += static_cast<double>(*count);
  else
    for (std::size_t i = 0; i < n; ++i) members += lo[i] == hi[i] ? 1 : counter(lo[i], hi[i]);
  if (covers_all(lo, hi, values.data(), n)) return;
  for (std::size_t i = 0; i < n; ++i)
    if (!(lo[i] <= values[i] && values[i] <= hi[i])) outside.push_back(first + static_cast<std::int64_t>(i));
}

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

std::vector<Set<F64>> sets_at(const SetTensor& t, std::size_t i) {
  std::vector<Set<F64>> sets;
  for (const Plane& p : t.planes) {
    const std::uint8_t f = flags_at(p, i);
    sets.push_back(f & no_reals ? Set<F64>::special(f) : Set<F64>::between(F64::exact(p.lo()[i]), F64::exact(p.hi()[i]), f));
  }
  return sets;
}

/// Distance from v to the nearest finite value of the sets, in steps of `format`.
double distance(const std::vector<Set<F64>>& sets, double v, const std::optional<Format>& format) {
  double best = std::numeric_limits<double>::infinity();
  if (!std::isfinite(v)) return best;
  for (const Set<F64>& s : sets) {
    if (!s.has_reals()) continue;
    const double lo = s.lo.d, hi = s.is_point ? s.lo.u : s.hi.u;
    const double nearest = v < lo ? lo : v > hi ? hi : v;
    best = std::min(best, format ? std::fabs(steps_between(*format, v, nearest)) : std::fabs(v - nearest));
  }
  return best;
}

/// Only elements where the mask is true; the mask is broadcast to the output.
std::vector<std::uint8_t> mask_of(const CheckOptions& options, const Extents& extents) {
  std::vector<std::uint8_t> mask;
  if (!options.where) return mask;
  const Tensor& where = *options.where;
  if (!where.type.is_boolean()) throw Error("the mask of 'where' has type " + to_string(where.type) + ", not bool");
  const std::optional<Shape> both = broadcast(shape_of(where.extents), shape_of(extents));
  if (!both || extents_of(*both) != extents)
    throw Error("the mask of 'where' has shape " + to_string(shape_of(where.extents)) + ", which does not broadcast to the output's " + to_string(shape_of(extents)));
  mask.resize(static_cast<std::size_t>(size_of(extents)));
  const std::size_t shift = extents.size() - where.extents.size();
  const Extents strides = contiguous_strides(where.extents);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = 0;
    for (std::size_t k = extents.size(); k-- > 0;) {
      const std::int64_t index = rest % extents[k];
      rest /= extents[k];
      if (k >= shift && where.extents[k - shift] != 1) at += index * strides[k - shift];
    }
    mask[i] = where.at(at) != 0;
  }
  return mask;
}

/// The provenance (src=) of every approximate function that the node depends on.
std::vector<std::string> sources_of(const Graph& graph, NodeId root) {
  std::vector<bool> needed(root + 1, false);
  needed[root] = true;
  std::vector<std::string> sources;
  for (NodeId id = root + 1; id-- > 0;) {
    if (!needed[id]) continue;
    for (NodeId o : graph[id].operands) needed[o] = true;
    const Node& node = graph[id];
    if (node.op != &op("approx") || node.attributes.text.empty()) continue;
    if (std::find(sources.begin(), sources.end(), node.attributes.text) == sources.end()) sources.push_back(node.attributes.text);
  }
  std::reverse(sources.begin(), sources.end());
  return sources;
}

ResultReport check_result(Evaluation& evaluation, std::size_t r, std::size_t run, const Tensor& output, const CheckOptions& options,
                          std::vector<bool>* covered) {
  const Graph& graph = evaluation.graph();
  const Result& result = graph.results[r];
  ResultReport report;
  report.name = result.name;
  report.spec = expression_text(graph, result.node);
  report.sources = sources_of(graph, result.node);
  report.type = output.type;
  report.extents = output.extents;
  require_extents(result, extents_of(graph[result.node].shape), output);
  const OutputRule how = output_rule(graph, result, output);
  const SetTensor& set = evaluation.result(r, how.store, run);
  const std::vector<std::uint8_t> mask = mask_of(options, output.extents);
  const std::int64_t n = output.size();
  if (covered) covered->assign(static_cast<std::size_t>(n), true);

  // Blocks are gathered in order, so the report does not depend on the number of threads.
  const MemberCounter counter(how.counted);
  constexpr std::int64_t block = 1 << 13;
  struct Part {
    std::vector<std::int64_t> outside;
    std::int64_t checked = 0;
    double members = 0;
  };
  std::vector<Part> parts(static_cast<std::size_t>((n + block - 1) / block));
  parallel_blocks(static_cast<std::int64_t>(parts.size()), evaluation.options(), [&](std::int64_t k) {
    Part& part = parts[static_cast<std::size_t>(k)];
    const std::int64_t first = k * block, count = std::min(block, n - first);
    Doubles values(static_cast<std::size_t>(count));
    output.decode(first, count, values.data());
    if (set.planes.size() == 1 && mask.empty() && !options.signed_zero && !how.members && is_plain(set.planes[0], first, count)) {
      check_plain(set.planes[0], first, values, counter, part.members, part.outside);
      part.checked += count;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t e = static_cast<std::size_t>(first + i);
      if (!mask.empty() && !mask[e]) continue;
      ++part.checked;
      part.members += count_members(set, e, counter);
      if (!is_covered(set, e, values[static_cast<std::size_t>(i)], options.signed_zero, how.members)) part.outside.push_back(first + i);
    }
  });
  double members = 0;
  for (const Part& part : parts) {
    report.checked += part.checked;
    members += part.members;
    report.outside.insert(report.outside.end(), part.outside.begin(), part.outside.end());
  }
  report.violations = static_cast<std::int64_t>(report.outside.size());
  report.tightness = report.checked ? members / static_cast<double>(report.checked) : 0;
  const std::optional<Format> format = output.type.is_floating() ? std::optional(output.type.format) : std::nullopt;
  for (const std::int64_t flat : report.outside) {
    stop_if_asked(evaluation.options());
    if (covered) (*covered)[static_cast<std::size_t>(flat)] = false;
    const double d = distance(sets_at(set, static_cast<std::size_t>(flat)), output.at(flat), format);
    report.max_ulps = std::max(report.max_ulps, d);
  }
  for (std::size_t k = 0; k < std::min(options.show, report.outside.size()); ++k) {
    const std::int64_t flat = report.outside[k];
    const double v = output.at(flat);
    const auto sets = sets_at(set, static_cast<std::size_t>(flat));
    Violation violation;
    violation.index = unravel(flat, output.extents);
    violation.got = number_text(v);
    violation.allowed = set_text(sets);
    violation.ulps = distance(sets, v, format);
    violation.nearest = -1;
    const auto alternatives = evaluation.alternatives(r, how.store, run, flat);
    if (alternatives.sets.size() > 1) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t a = 0; a < alternatives.sets.size(); ++a) {
        const double d = distance({alternatives.sets[a]}, v, format);
        if (d < best) {
          best = d;
          violation.nearest = static_cast<int>(a);
        }
      }
      if (report.alternatives.empty())
        for (const NodeId id : alternatives.nodes) report.alternatives.push_back(expression_text(graph, id));
    }
    report.first.push_back(std::move(violation));
  }
  report.where = locate(report.extents, report.outside, report.checked);
  return report;
}

}  // namespace

bool Report::ok() const { return applicable && violations() == 0; }

std::int64_t Report::violations() const {
  std::int64_t count = 0;
  for (const ResultReport& r : results) count += r.violations;
  return count;
}

Report check(Evaluation& evaluation, const std::vector<Tensor>& outputs, const CheckOptions& options) {
  const FloatGuard guard;
  const auto start = std::chrono::steady_clock::now();
  const std::size_t results = evaluation.graph().results.size();
  if (outputs.size() != results)
    throw Error("the spec has " + std::to_string(results) + (results == 1 ? " result" : " results") + ", but " + std::to_string(outputs.size()) +
                (outputs.size() == 1 ? " output was given" : " outputs were given"));
  // A labelled choice is one choice for all results: the run with the fewest violations is reported.
  Report best;
  for (std::size_t run = 0; run < evaluation.runs(); ++run) {
    Report report;
    report.run = evaluation.run_name(run);
    for (std::size_t r = 0; r < results; ++r) report.results.push_back(check_result(evaluation, r, run, outputs[r], options, nullptr));
    if (run == 0 || report.violations() < best.violations()) best = std::move(report);
    if (best.ok()) break;
  }
  best.counters = evaluation.counters();
  best.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return best;
}

std::vector<bool> covers(Evaluation& evaluation, std::size_t i, const Tensor& output, const CheckOptions& options) {
  const FloatGuard guard;
  std::vector<bool> best;
  std::int64_t fewest = -1;
  for (std::size_t run = 0; run < evaluation.runs(); ++run) {
    std::vector<bool> covered;
    CheckOptions quiet = options;
    quiet.show = 0;
    const ResultReport report = check_result(evaluation, i, run, output, quiet, &covered);
    if (fewest >= 0 && report.violations >= fewest) continue;
    fewest = report.violations;
    best = std::move(covered);
    if (fewest == 0) break;
  }
  return best;
}

}  // namespace erx
