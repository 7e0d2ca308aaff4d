// What stands between < and >: formats, rounding modes, orders of a sum.
#include <algorithm>
#include <utility>

#include "grammar/lower.hpp"

namespace erx {

std::optional<Format> Lowering::format(const Syntax& s) {
  if (s.is(Form::head) && s.text == "float") return float_format(s);
  if (!s.is(Form::name)) {
    if (!s.is(Form::error))
      error({span(s), "expected a format, found `" + std::string(span(s).text()) + "`", "a format is bf16, f32, float<e=8, m=10> ..."});
    return {};
  }
  auto generic = formats_.find(s.text);
  if (generic != formats_.end()) return generic->second;
  auto item = items_->formats.find(s.text);
  if (item != items_->formats.end()) {
    const Syntax& definition = (*item->second.syntax)[0];
    const Items& home = *item->second.home;
    if (definition.is(Form::name) && home.formats.count(definition.text)) {
      error({home.ast->span(definition), "a format is defined by a named format or float<...>", "this is another definition"});
      return {};
    }
    const Items* const outer = std::exchange(items_, &home);
    auto f = format(definition);
    items_ = outer;
    return f;
  }
  if (const Format* f = find_format(s.text)) return *f;
  if (find_type(s.text)) {
    error({span(s), "`" + s.text + "` is not a floating-point format", "a rounding needs one, as in round<bf16>(x)"});
    return {};
  }
  std::vector<std::string> known = format_names();
  for (const auto& [name, _] : items_->formats) known.push_back(name);
  for (const auto& [name, _] : formats_) known.push_back(name);
  Diagnostic d{span(s), "unknown format `" + s.text + "`", ""};
  const std::string near = did_you_mean(s.text, known);
  if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?").suggest(span(s), near);
  error(std::move(d));
  return {};
}

template <class Enum>
bool Lowering::choose(const Syntax& value, const std::vector<std::pair<std::string, Enum>>& among, Enum& chosen) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : among) {
    if (value.is(Form::name) && value.text == word) {
      chosen = meaning;
      return true;
    }
    words.push_back(word);
  }
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i) all += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  Diagnostic d{span(value), "expected " + all + ", found `" + std::string(span(value).text()) + "`", ""};
  const std::string near = did_you_mean(value.text, words);
  if (!near.empty()) std::move(d).suggest(span(value), near);
  error(std::move(d));
  return false;
}

bool Lowering::flush(const Syntax& value, Flush& f) {
  return choose<Flush>(value, {{"no", Flush::no}, {"yes", Flush::yes}, {"free", Flush::free}}, f);
}

std::optional<Format> Lowering::float_format(const Syntax& head) {
  FormatParameters p;
  bool ok = true, has_e = false, has_m = false;
  for (const Syntax& a : head[0].children) {
    if (!a.is(Form::argument)) {
      error({span(a), "the numbers of a format have names, as in float<e=8, m=10>", ""});
      ok = false;
      continue;
    }
    auto whole = [&](int& out) {
      auto v = integer(a[0], "a number of bits");
      if (v && (*v < -100000 || *v > 100000)) {
        error({span(a[0]), "this number is out of range for a format", ""});
        v.reset();
      }
      ok = ok && v;
      out = static_cast<int>(v.value_or(0));
    };
    const std::vector<std::pair<std::string, bool>> yes_no = {{"yes", true}, {"no", false}};
    if (a.text == "e")
      whole(p.e), has_e = true;
    else if (a.text == "m")
      whole(p.m), has_m = true;
    else if (a.text == "bias")
      whole(p.bias.emplace());
    else if (a.text == "inf")
      ok &= choose<Infinities>(a[0], {{"ieee", Infinities::ieee}, {"none", Infinities::none}}, p.inf);
    else if (a.text == "nan")
      ok &= choose<Nans>(a[0], {{"ieee", Nans::ieee}, {"top", Nans::top}, {"negzero", Nans::negzero}, {"none", Nans::none}}, p.nan);
    else if (a.text == "subnormals")
      ok &= choose<bool>(a[0], yes_no, p.subnormals);
    else if (a.text == "sign")
      ok &= choose<bool>(a[0], yes_no, p.sign);
    else {
      const std::vector<std::string> known = {"e", "m", "bias", "inf", "nan", "subnormals", "sign"};
      Diagnostic d{span(a), "a format has no parameter `" + a.text + "`", "it has e, m, bias, inf, nan, subnormals and sign"};
      error(std::move(d));
      ok = false;
    }
  }
  if (ok && (!has_e || !has_m)) {
    error({span(head), std::string("`float` needs ") + (has_e ? "m=, its fraction bits" : "e=, its exponent bits"),
           "as in float<e=8, m=10>"});
    ok = false;
  }
  if (!ok) return {};
  try {
    return make_format(p);
  } catch (const Error& e) {
    place(e, span(head));
    return {};
  }
}

/// The format that is first between < and >.
std::optional<Format> Lowering::format_of_head(const Syntax& head) {
  const Syntax& list = head[0];
  if (list.children.empty() || list[0].is(Form::argument)) {
    error({span(list), "`" + head.text + "` needs a format first", "as in " + head.text + "<f32>"});
    return {};
  }
  return format(list[0]);
}

bool Lowering::rounding(const Syntax& list, std::size_t from, Attributes& attributes) {
  Rounding& r = attributes.rounding;
  for (std::size_t i = from; i < list.size(); ++i) {
    const Syntax& a = list[i];
    if (a.is(Form::argument)) {
      if (a.text != "ftz") {
        error({span(a), "a rounding has no parameter `" + a.text + "`", "it has a mode, an overflow rule and ftz"});
        return false;
      }
      if (!flush(a[0], r.flush)) return false;
      continue;
    }
    const std::string& w = a.text;
    if (a.is(Form::name)) {
      if (auto mode = find_mode(w)) {
        r.mode = *mode;
        continue;
      }
      auto overflow = find_overflow(w);
      if (overflow && !w.empty()) {
        r.overflow = *overflow;
        continue;
      }
      if (w == "ftz") {
        r.flush = Flush::yes;
        continue;
      }
    }
    std::vector<std::string> words = {"rne", "rna", "rtz", "rtp", "rtn", "rto", "sr", "faithful", "sat", "sat_finite", "nosat", "ftz"};
    Diagnostic d{span(a), "unknown rounding `" + std::string(span(a).text()) + "`",
                 "modes are rne rna rtz rtp rtn rto sr faithful; then sat, sat_finite or nosat; ftz"};
    const std::string near = did_you_mean(w, words);
    if (!near.empty()) std::move(d).suggest(span(a), near);
    error(std::move(d));
    return false;
  }
  return true;
}

namespace {

struct OrderWord {
  const char* word;
  OrderKind kind;
  const char* form;
};
constexpr OrderWord order_words[] = {
    {"any", OrderKind::any, "any"},
    {"assoc", OrderKind::assoc, "assoc"},
    {"seq", OrderKind::seq, "seq"},
    {"rseq", OrderKind::rseq, "rseq"},
    {"pairwise", OrderKind::pairwise, "pairwise(8)"},
    {"blocked", OrderKind::blocked, "blocked(64, inner=seq, outer=any)"},
    {"split", OrderKind::split, "split({1, 2, 4}, store=bf16)"},
    {"height", OrderKind::height, "height(10)"},
    {"tensor_core", OrderKind::tensor_core, "tensor_core(L=16, F=25)"},
};

}  // namespace

bool Lowering::order(const Syntax& s, Order& order) {
  const OrderWord* found = nullptr;
  std::vector<std::string> words;
  for (const auto& o : order_words) {
    words.emplace_back(o.word);
    if ((s.is(Form::name) || s.is(Form::call)) && s.text == o.word) found = &o;
  }
  if (!found) {
    Diagnostic d{span(s), "unknown order `" + std::string(span(s).text()) + "`",
                 "orders are any, assoc, seq, rseq, pairwise(b), blocked(b), split({..}), height(h), tensor_core(L=, F=)"};
    const std::string near = did_you_mean(s.text, words);
    if (!near.empty() && s.is(Form::name)) std::move(d).suggest(span(s), near);
    error(std::move(d));
    return false;
  }
  order.kind = found->kind;
  const bool takes_none = std::string(found->form).find('(') == std::string::npos;
  if (takes_none != s.is(Form::name)) {
    error({span(s), takes_none ? "`" + s.text + "` takes no arguments" : "`" + s.text + "` needs a number",
           std::string("as in ") + found->form});
    return false;
  }
  if (takes_none) return true;
  bool ok = true;
  auto count = [&](const Syntax& a) {
    auto n = integer(a, "a count");
    if (n && *n < 1) {
      error({span(a), "expected a number of at least 1, found " + std::to_string(*n), ""});
      n.reset();
      ok = false;
    } else if (!n && concrete_) {
      ok = false;
    }
    return n.value_or(1);
  };
  const std::vector<std::pair<std::string, OrderKind>> simple = {
      {"any", OrderKind::any}, {"assoc", OrderKind::assoc}, {"seq", OrderKind::seq}, {"rseq", OrderKind::rseq}};
  std::map<std::string, std::int64_t> named;
  std::size_t positional = 0;
  for (const Syntax& a : s[0].children) {
    if (!a.is(Form::argument)) {
      ++positional;
      if (a.is(Form::set) && order.kind == OrderKind::split) {
        for (const Syntax& n : a.children) order.numbers.push_back(count(n));
        if (a.children.empty()) {
          error({span(a), "expected at least one number of parts", "as in split({1, 2, 4})"});
          ok = false;
        }
      } else if (a.is(Form::set)) {
        error({span(a), "expected one number", std::string("as in ") + found->form});
        ok = false;
      } else {
        order.numbers.push_back(count(a));
      }
      continue;
    }
    const Syntax& value = a[0];
    if (order.kind == OrderKind::blocked && a.text == "inner")
      ok &= choose<OrderKind>(value, simple, order.inner);
    else if (order.kind == OrderKind::blocked && a.text == "outer")
      ok &= choose<OrderKind>(value, simple, order.outer);
    else if (order.kind == OrderKind::split && a.text == "store") {
      order.store = format(value);
      ok = ok && order.store;
    } else if (order.kind == OrderKind::tensor_core && (a.text == "L" || a.text == "F")) {
      named[a.text] = count(value);
    } else {
      error({span(a), "`" + s.text + "` has no parameter `" + a.text + "`", std::string("as in ") + found->form});
      ok = false;
    }
  }
  if (order.kind == OrderKind::tensor_core) {
    if (positional > 0 || named.size() != 2) {
      if (ok) error({span(s), "`tensor_core` needs L= and F=", std::string("as in ") + found->form});
      return false;
    }
    order.numbers = {named["L"], named["F"]};
  } else if (positional != 1) {
    if (ok) error({span(s), "`" + s.text + "` takes one number, found " + std::to_string(positional), std::string("as in ") + found->form});
    return false;
  }
  return ok;
}

bool Lowering::contraction_word(const Syntax& value, Contraction& c) {
  return choose<Contraction>(value, {{"free", Contraction::free}, {"always", Contraction::always}, {"never", Contraction::never}}, c);
}

bool Lowering::accumulation(const Syntax& list, Attributes& attributes) {
  bool ok = true, has_order = false;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const Syntax& a = list[i];
    if (!a.is(Form::argument)) {
      if (has_order) {
        error({span(a), "`acc` takes one order", "a second one"});
        ok = false;
        continue;
      }
      has_order = true;
      ok = order(a, attributes.order) && ok;
    } else if (a.text == "fma") {
      ok &= contraction_word(a[0], attributes.contraction);
    } else if (a.text == "ftz") {
      ok &= flush(a[0], attributes.rounding.flush);
    } else {
      Diagnostic d{span(a), "`acc` has no parameter `" + a.text + "`", "it has an order, fma= and ftz="};
      error(std::move(d));
      ok = false;
    }
  }
  return ok;
}

}  // namespace erx
