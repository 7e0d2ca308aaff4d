#include "eval/result_check.hpp"

#include <algorithm>
#include <limits>

#include "eval/locate.hpp"
#include "eval/number_text.hpp"
#include "eval/parallel.hpp"
#include "ir/print.hpp"

namespace erx {
namespace {

std::string type_error(const std::string& name, const Type& output, const Type& result) {
  return "output" + (name.empty() ? std::string() : " '" + name + "'") + " has type " + to_string(output) + ", but the result is " + to_string(result);
}

OutputRule output_rule(const Graph& graph, const Result& result, const Tensor& output) {
  const Type declared = result.declared ? *result.declared : graph[result.node].type;
  OutputRule c;
  if (declared.is_boolean() != output.type.is_boolean() || declared.is_complex != output.type.is_complex)
    throw Error(type_error(result.name, output.type, declared));
  const Type type = declared.part(), node_type = graph[result.node].type.part();
  if (output.type.is_integer() && !type.is_integer())
    throw Error(type_error(result.name, output.type, type) + ": a real result is stored in a floating-point format");
  if (!output.type.is_floating()) return c;
  if (!result.declared && !contains(output.type.part(), type)) {
    c.store = output.type.format;
    c.counted = c.store;
    return c;
  }
  c.counted = node_type.is_floating() && contains(output.type.part(), node_type) ? node_type.format : output.type.format;
  if (node_type.is_floating() && !contains(node_type, output.type.part())) c.members = node_type.format;
  return c;
}

void require_extents(const Result& result, const Extents& expected, const Tensor& output) {
  if (output.extents == expected) return;
  throw Error("output" + (result.name.empty() ? std::string() : " '" + result.name + "'") + " has shape " + to_string(shape_of(output.extents)) +
              ", but the result has shape " + to_string(shape_of(expected)));
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

}  // namespace

ResultCheck::ResultCheck(const Evaluation& evaluation, std::size_t r, const Tensor& output, const CheckOptions& options)
    : evaluation_(&evaluation), output_(&output), options_(&options), re_(output.real_part()), im_(output.is_complex() ? output.imag_part() : re_) {
  const Graph& graph = evaluation.graph();
  const Result& result = graph.results[r];
  report_.name = result.name;
  report_.graph = evaluation.shared_graph();
  report_.node = result.node;
  report_.type = output.type;
  report_.extents = output.extents;
  require_extents(result, extents_of(graph[result.node].shape), output);
  how_ = output_rule(graph, result, output);
  if (output.type.is_floating()) format_ = output.type.format;
  mask_ = mask_of(options, output.extents);
}

Got ResultCheck::got(std::int64_t flat) const { return {re_.at(flat), output_->is_complex() ? im_.at(flat) : 0}; }

Judge ResultCheck::judge(const SetTensor& sets) const { return Judge(sets, how_, format_, options_->signed_zero); }

void ResultCheck::add(const Section& section, const SetTensor& sets) {
  // Blocks are gathered in order, so the report does not depend on the number of threads.
  const bool is_complex = output_->is_complex();
  const Tensor re = section.of(re_), im = section.of(im_);
  const std::int64_t n = re.size();
  const Judge judge = this->judge(sets);
  constexpr std::int64_t block = 1 << 13, piece = 1 << 10;  // of a thread; of what is decoded at a time, which stays in the first cache
  struct Block {
    std::vector<std::int64_t> outside;
    std::vector<float> distances;
    std::int64_t checked = 0;
    double members = 0, max_ulps = 0;
  };
  std::vector<Block> blocks(static_cast<std::size_t>((n + block - 1) / block));
  const auto place = [&](std::int64_t i) { return section.place(i, report_.extents); };
  const auto check_piece = [&](std::int64_t first, std::int64_t count, Doubles& values, Doubles& imaginary, Block& b) {
    re.decode(first, count, values.data());
    if (is_complex) im.decode(first, count, imaginary.data());
    const std::size_t before = b.outside.size();
    const auto got_at = [&](std::int64_t i) { return Got{values[static_cast<std::size_t>(i)], is_complex ? imaginary[static_cast<std::size_t>(i)] : 0}; };
    if (mask_.empty() && judge.is_simple()) {
      judge.check_simple(first, {values.data(), static_cast<std::size_t>(count)}, b.members, b.outside);
      b.checked += count;
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::size_t e = static_cast<std::size_t>(first + i);
        if (!mask_.empty() && !mask_[static_cast<std::size_t>(place(first + i))]) continue;
        ++b.checked;
        b.members += judge.count(e);
        if (!judge.covers(e, got_at(i))) b.outside.push_back(first + i);
      }
    }
    for (std::size_t v = before; v < b.outside.size(); ++v) {
      std::int64_t& flat = b.outside[v];
      const double ulps = judge.distance(static_cast<std::size_t>(flat), got_at(flat - first)).ulps();
      b.distances.push_back(static_cast<float>(ulps));
      b.max_ulps = std::max(b.max_ulps, ulps);
      flat = place(flat);
    }
  };
  parallel_blocks(static_cast<std::int64_t>(blocks.size()), evaluation_->options(), [&](std::int64_t k) {
    Doubles values(static_cast<std::size_t>(piece)), imaginary(is_complex ? values.size() : 0);
    const std::int64_t end = std::min(n, (k + 1) * block);
    for (std::int64_t first = k * block; first < end; first += piece) check_piece(first, std::min(piece, end - first), values, imaginary, blocks[static_cast<std::size_t>(k)]);
  });
  for (const Block& b : blocks) {
    report_.checked += b.checked;
    members_ += b.members;
    report_.max_ulps = std::max(report_.max_ulps, b.max_ulps);
    report_.outside.insert(report_.outside.end(), b.outside.begin(), b.outside.end());
    report_.distances.insert(report_.distances.end(), b.distances.begin(), b.distances.end());
  }
}

ResultReport ResultCheck::counted() {
  auto& outside = report_.outside;
  report_.violations = static_cast<std::int64_t>(outside.size());
  report_.tightness = report_.checked ? members_ / static_cast<double>(report_.checked) : 0;
  if (!std::is_sorted(outside.begin(), outside.end())) {  // sections by two axes
    std::vector<std::pair<std::int64_t, float>> all;
    for (std::size_t k = 0; k < outside.size(); ++k) all.emplace_back(outside[k], report_.distances[k]);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < all.size(); ++k) std::tie(outside[k], report_.distances[k]) = all[k];
  }
  return std::move(report_);
}

ResultReport ResultCheck::explained(Evaluation::Parts& parts, std::size_t k) {
  report_ = counted();
  if (report_.outside.empty()) return std::move(report_);
  for (std::size_t v = 0; v < std::min(options_->show, report_.outside.size()); ++v) report_.first.push_back(violation(parts, k, report_.outside[v]));
  const Violations violations{report_.extents, report_.outside, report_.distances, report_.checked, mask_};
  report_.findings = locate(violations);
  const OutputValues values{[&](std::int64_t flat) { return re_.at(flat); }, [&](std::int64_t at, std::int64_t flat, bool negated) {
    const Got v = got(flat);
    const Evaluation::Parts::Element e = parts.element(k, at);
    return judge(e.in.result(k)).covers(static_cast<std::size_t>(e.flat), negated ? Got{-v.re, -v.im} : v);
  }};
  for (Finding& f : explain_values(violations, values)) report_.findings.push_back(std::move(f));
  std::stable_partition(report_.findings.begin(), report_.findings.end(), [](const Finding& f) { return f.kind != "cause"; });
  return std::move(report_);
}

Violation ResultCheck::violation(Evaluation::Parts& parts, std::size_t k, std::int64_t flat) {
  const Evaluation::Parts::Element e = parts.element(k, flat);
  const std::size_t at = static_cast<std::size_t>(e.flat);
  const Judge judge = this->judge(e.in.result(k));
  const bool is_complex = output_->is_complex();
  const Got v = got(flat);
  const Distance d = judge.distance(at, v);
  Violation violation;
  violation.index = unravel(flat, report_.extents);
  violation.got = got_text(v, is_complex);
  violation.allowed = judge.allowed(at);
  violation.ulps = d.ulps();
  if (is_complex) violation.parts = {d.re, d.im};
  violation.nearest = -1;
  const auto alternatives = e.in.alternatives(k, e.flat);
  if (alternatives.sets.size() < 2) return violation;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < alternatives.sets.size(); ++a) {
    const double away = judge.distance(alternatives.sets[a], is_complex ? &alternatives.imag[a] : nullptr, v).ulps();
    if (away < best) {
      best = away;
      violation.nearest = static_cast<int>(a);
    }
  }
  if (report_.alternatives.empty())
    for (const NodeId id : alternatives.nodes) report_.alternatives.push_back(expression_text(*alternatives.graph, id));
  return violation;
}

}  // namespace erx
