// Products of tensors by name: dot and einsum, written out as views, products and one sum.
//   einsum("ij,jk->ik", A, B)   is   sum(A[:, None, :] * B.T[None, :, :], axis=2)   which takes the path of A @ B
#include "grammar/subscripts.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {
namespace {

/// An axis of an einsum: a letter, or the k-th axis of `...` counted from its end (-1, -2 ..).
using Label = int;

Label ellipsis_axis(std::size_t from_end) { return -1 - static_cast<int>(from_end); }

std::string name_of(Label label) { return label > 0 ? std::string("`") + static_cast<char>(label) + "`" : "an axis of `...`"; }

std::vector<Label> labels_of(const std::string& letters, std::size_t hidden) {
  std::vector<Label> labels;
  for (char c : letters) {
    if (c != '.') labels.push_back(c);
    else
      for (std::size_t k = hidden; k-- > 0;) labels.push_back(ellipsis_axis(k));
  }
  return labels;
}

bool has(const std::vector<Label>& labels, Label l) { return std::find(labels.begin(), labels.end(), l) != labels.end(); }

struct Operand {
  Value value;
  std::vector<Label> labels;
};

/// NumPy's dot of more dimensions pairs axes unlike @: it is not guessed.
std::optional<Diagnostic> refuse_dot(const Graph& graph, const Value& a, const Value& b) {
  if (!a.node || !b.node) return {};
  const Shape &x = graph[*a.node].shape, &y = graph[*b.node].shape;
  if (x.size() <= 2 && y.size() <= 2) return {};
  return Diagnostic{b.at, "`dot` takes one or two dimensions, found " + to_string(x) + " and " + to_string(y), "matmul and einsum take more"};
}

}  // namespace

Value Lowering::dot(const Syntax& s, const Manner& mode) {
  if (mode.kind == Manner::Kind::within) return within_sum(s, mode);
  Arguments given = arguments(s, {}, 2, 2);
  if (!given.ok) return Value::unknown(span(s));
  Value a = expression(*given.positional[0], mode), b = expression(*given.positional[1], mode);
  if (auto wrong = refuse_dot(graph, a, b)) {
    error(std::move(*wrong));
    return Value::unknown(span(s));
  }
  return apply(op("matmul"), {std::move(a), std::move(b)}, {}, span(s), mode);
}

/// Axes of one letter in an operand become one; NumPy wants them of one length.
bool Lowering::take_diagonals(Value& x, std::vector<int>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = i + 1; j < labels.size(); ++j) {
      if (labels[i] != labels[j]) continue;
      const Shape shape = graph[*x.node].shape;
      if (!(shape[i] == shape[j])) {
        error({x.at, "the axes of " + name_of(labels[i]) + " have the lengths " + shape[i].to_string() + " and " + shape[j].to_string(), to_string(shape)});
        return false;
      }
      Attributes two;
      two.axes = {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)};
      const Span at = x.at;
      x = view(op("diagonal"), std::move(x), std::move(two), at);
      const Label label = labels[i];
      labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(j));
      labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(i));
      labels.push_back(label);
      i = static_cast<std::size_t>(-1);  // positions have moved
      break;
    }
  }
  return true;
}

/// The operand with an axis for each of `all`, of length 1 where it has none.
Value Lowering::aligned(Value x, const std::vector<int>& labels, const std::vector<int>& all, const Span& at) {
  Attributes order, places;
  bool moves = false, adds = false;
  for (Label l : all) {
    const auto found = std::find(labels.begin(), labels.end(), l);
    if (found == labels.end()) {
      places.slices.push_back({Slice::Kind::new_axis, 0, 1, 0});
      adds = true;
      continue;
    }
    places.slices.push_back({Slice::Kind::range, 0, 1, -1});
    const auto axis = found - labels.begin();
    moves = moves || axis != static_cast<std::ptrdiff_t>(order.axes.size());
    order.axes.push_back(axis);
  }
  if (moves) x = view(op("transpose"), std::move(x), std::move(order), at);
  if (adds) x = view(op("index"), std::move(x), std::move(places), at);
  x.product.reset();
  return x;
}

/// Exactly: views, products from left to right, one sum over the letters that the result lacks, in the order of their first place.
Value Lowering::einsum_sum(const Syntax& s, const Manner& mode) {
  const Span at = span(s);
  Arguments given = arguments(s, {}, 1, 1000);
  if (!given.ok) return Value::unknown(at);
  std::vector<Operand> operands;
  bool known = true;
  for (std::size_t i = 1; i < given.positional.size(); ++i) {
    operands.push_back({expression(*given.positional[i], mode), {}});
    if (operands.back().value.is_tuple) error({operands.back().value.at, "a tuple is not a tensor", "expected one value"});
    known = known && operands.back().value.node && !operands.back().value.is_tuple;
  }
  const Syntax& quoted = *given.positional[0];
  if (!quoted.is(Form::string)) {
    error({span(quoted), "`einsum` begins with its subscripts in quotes", "as in einsum(\"ij,jk->ik\", A, B)"});
    return Value::unknown(at);
  }
  const std::string text(span(quoted).text().substr(1, span(quoted).text().size() - 2));
  const auto place = [&](std::size_t first, std::size_t last) {
    const auto begin = quoted.begin + 1 + static_cast<std::uint32_t>(first);
    return Span{ast().source, begin, quoted.begin + 1 + static_cast<std::uint32_t>(last)};
  };
  Subscripts subscripts;
  try {
    subscripts = read_subscripts(text, operands.size(), place);
  } catch (const Error& e) {
    this->place(e, at);
    return Value::unknown(at);
  }
  if (!known) {
    is_complete = false;
    return Value::unknown(at);
  }
  // What each letter stands for.
  std::map<Label, std::pair<Dim, std::size_t>> lengths;  // and the operand that told
  std::size_t most_hidden = 0;
  std::vector<Label> written;  // by their first places; diagonals move their letters
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Operand& o = operands[i];
    const Shape shape = graph[*o.value.node].shape;
    const std::string& letters = subscripts.operands[i];
    const bool has_rest = letters.find('.') != letters.npos;
    const std::size_t named = letters.size() - has_rest;
    if (shape.size() < named || (!has_rest && shape.size() != named)) {
      error({o.value.at, "`" + letters + "` names " + std::to_string(named) + (named == 1 ? " axis" : " axes") + (has_rest ? " and more" : "") + ", and this has shape " + to_string(shape),
             to_string(shape)});
      return Value::unknown(at);
    }
    o.labels = labels_of(letters, shape.size() - named);
    for (Label l : o.labels)
      if (!has(written, l)) written.push_back(l);
    most_hidden = std::max(most_hidden, has_rest ? shape.size() - named : 0);
    if (!take_diagonals(o.value, o.labels)) return Value::unknown(at);
    const Shape own = graph[*o.value.node].shape;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto [seen, is_new] = lengths.try_emplace(o.labels[k], own[k], i);
      const Dim before = seen->second.first;
      if (is_new || before == own[k] || own[k] == Dim(1)) continue;
      if (!(before == Dim(1))) {
        error(Diagnostic{o.value.at, name_of(o.labels[k]) + " has the length " + before.to_string() + " in one operand and " + own[k].to_string() + " here",
                         to_string(shape)}
                  .note(operands[seen->second.second].value.at, "it is " + before.to_string() + " here"));
        return Value::unknown(at);
      }
      seen->second = {own[k], i};
    }
  }
  const std::string result = subscripts.result ? *subscripts.result : implicit_result(subscripts);
  if (most_hidden > 0 && result.find('.') == result.npos) {
    error({span(quoted), "the result lacks the axes of `...`", "write `...` in it too"});
    return Value::unknown(at);
  }
  const std::vector<Label> kept = labels_of(result, most_hidden);
  std::vector<Label> all = kept;
  for (Label l : written)
    if (!has(all, l)) all.push_back(l);
  const std::size_t summed = all.size() - kept.size();

  // The last axis of the result belongs to the right factor: so the product is read as one of matrices.
  if (operands.size() == 2 && !kept.empty() && !has(operands[1].labels, kept.back())) std::swap(operands[0], operands[1]);
  bool merges = operands.size() == 2 && summed > 1;  // several summed axes are walked as one
  for (const Operand& o : operands)
    for (std::size_t k = kept.size(); k < all.size(); ++k) {
      const auto found = std::find(o.labels.begin(), o.labels.end(), all[k]);
      merges = merges && found != o.labels.end() && graph[*o.value.node].shape[static_cast<std::size_t>(found - o.labels.begin())] == lengths.at(all[k]).first;
    }
  Value total;
  bool wide = false;
  if (mode.kind == Manner::Kind::rounded && (operands.size() > 1 || summed > 0))
    for (const Operand& o : operands) wide = refuse_wide(o.value, mode) || wide;
  if (wide) return Value::unknown(at);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Value x = aligned(std::move(operands[i].value), operands[i].labels, all, at);
    if (merges) {
      Attributes merged;
      const Shape shape = graph[*x.node].shape;
      merged.shape.assign(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(kept.size()));
      merged.shape.push_back(Dim(1));
      for (std::size_t k = kept.size(); k < shape.size(); ++k) merged.shape.back() = merged.shape.back() * shape[k];
      x = view(op("reshape"), std::move(x), std::move(merged), at);
    }
    if (i == 0) total = std::move(x);
    else total.node = exactly(op("mul"), {total, x}, {}, at);
    if (!total.node) return Value::unknown(at);
  }
  total.at = at;
  if (summed == 0) return total;
  Attributes over;
  for (std::size_t k = 0; k < (merges ? 1 : summed); ++k) over.axes.push_back(static_cast<std::int64_t>(kept.size() + k));
  total.node = exactly(op("sum"), {total}, std::move(over), at);
  return total;
}

Value Lowering::einsum(const Syntax& s, const Manner& mode) {
  Value v = mode.kind == Manner::Kind::within ? contraction(s, mode) : einsum_sum(s, mode);
  if (!v.node) return v;
  const Node& node = graph[*v.node];
  const bool is_pair = node.op == &op("complex");
  if (!row(is_pair ? graph[node.operands[0]] : node).arithmetic || node.type.is_integer()) return v;  // a view
  if (mode.kind != Manner::Kind::within) return one_operation(std::move(v), mode);
  Attributes format;
  format.format = mode.format;
  format.rounding.flush = mode.flush;
  v.node = build(op("within_sum"), {*v.node}, std::move(format), {v.at}, v.at);
  return v;
}

/// einsum("ij,jk,kl->il", A, B, C) as einsum("ik,kl->il", acc<F>(einsum("ij,jk->ik", A, B)), C)
void Lowering::refuse_three_factors(const Syntax& s) {
  const Syntax& list = s.children.back();
  Diagnostic d{span(s), "an einsum of " + std::to_string(list.size() - 1) + " operands has products of as many factors", "a leaf of a sum has two: contract two at a time"};
  const std::string quoted(span(list[0]).text());
  try {
    const auto nowhere = [&](std::size_t, std::size_t) { return span(list[0]); };
    const Subscripts subscripts = read_subscripts(quoted.substr(1, quoted.size() - 2), list.size() - 1, nowhere);
    const std::string result = subscripts.result ? *subscripts.result : implicit_result(subscripts);
    std::string later = result, kept, rest;
    for (std::size_t i = 2; i < subscripts.operands.size(); ++i) later += subscripts.operands[i];
    const std::string first = subscripts.operands[0] + subscripts.operands[1];
    bool sums = false;
    for (char c : first) {
      if (later.find(c) == later.npos) sums = true;
      else if (kept.find(c) == kept.npos) kept += c;
    }
    const auto dotted = [](const std::string& letters) {
      std::string out;
      for (char c : letters) out += c == '.' ? "..." : std::string(1, c);
      return out;
    };
    std::string subscripts_of_rest = dotted(kept), others;
    for (std::size_t i = 2; i < subscripts.operands.size(); ++i) {
      subscripts_of_rest += "," + dotted(subscripts.operands[i]);
      others += ", " + std::string(span(list[i + 1]).text());
    }
    const auto text = [&](std::size_t i) { return std::string(span(list[i]).text()); };
    std::string inner = "einsum(\"" + dotted(subscripts.operands[0]) + "," + dotted(subscripts.operands[1]) + "->" + dotted(kept) + "\", " + text(1) + ", " + text(2) + ")";
    if (acc_) {
      const std::string head(Span{ast().source, acc_->begin, (*acc_)[0].end}.text());
      const auto format = format_of_head(*acc_);
      inner = sums ? head + "(" + inner + ")" : "round<" + (format ? format->name : "f32") + ">(" + inner + ")";
    }
    std::string outer = "einsum(\"" + subscripts_of_rest + "->" + dotted(result) + "\", " + inner + others + ")";
    // Where nothing is left to be summed, the last product is rounded.
    const bool is_sum = std::any_of(subscripts_of_rest.begin(), subscripts_of_rest.end(), [&](char c) { return std::isalpha(static_cast<unsigned char>(c)) && result.find(c) == result.npos; });
    const bool alone = acc_ && (*acc_)[1][0].begin == s.begin && (*acc_)[1][0].end == s.end;
    if (!is_sum && alone) {
      const auto format = format_of_head(*acc_);
      outer = "round<" + (format ? format->name : "f32") + ">(" + outer + ")";
    }
    std::move(d).suggest(!is_sum && alone ? span(*acc_) : span(s), outer);
  } catch (const Error&) {
    // The subscripts are wrong themselves: that is told when they are read.
  }
  error(std::move(d));
}

Value Lowering::contraction(const Syntax& s, const Manner& mode) {
  if (s.text == "einsum") {
    if (s.children.back().size() <= 3) return einsum_sum(s, mode);
    refuse_three_factors(s);
    return Value::unknown(span(s));
  }
  Arguments given = arguments(s, {}, 2, 2);
  Value v = Value::unknown(span(s));
  if (!given.ok) return v;
  const Value a = expression(*given.positional[0], mode), b = expression(*given.positional[1], mode);
  auto wrong = s.text == "dot" ? refuse_dot(graph, a, b) : std::nullopt;
  if (wrong) error(std::move(*wrong));
  else v.node = exactly(op("matmul"), {a, b}, {}, span(s));
  return v;
}

}  // namespace erx
