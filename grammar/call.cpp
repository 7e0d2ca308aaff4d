// Calls: rows of the op table, functions of the file, and the few functions whose arguments are shapes or axes.
#include <algorithm>
#include <utility>

#include "grammar/foreign.hpp"
#include "grammar/lower.hpp"
#include "grammar/prelude.hpp"
#include "grammar/scan.hpp"
#include "grammar/words.hpp"

namespace erx {

const std::map<std::string, Lowering::Special>& Lowering::specials() {
  static const std::map<std::string, Special> table = {
      {"exact", &Lowering::exact},         {"mean", &Lowering::mean},
      {"reshape", &Lowering::reshape},     {"transpose", &Lowering::transpose},
      {"broadcast", &Lowering::broadcast}, {"zeros", &Lowering::zeros},
      {"ones", &Lowering::ones},           {"full", &Lowering::full},
      {"len", &Lowering::length},          {"dot", &Lowering::dot},
      {"concat", &Lowering::concat},       {"stack", &Lowering::stack},
      {"flip", &Lowering::flip},           {"repeat", &Lowering::repeat},
      {"iota", &Lowering::iota},           {"eye", &Lowering::eye},
      {"diagonal", &Lowering::diagonal},   {"einsum", &Lowering::einsum},
      {"vjp", &Lowering::vjp},
  };
  return table;
}

namespace {

/// A row that is called by its name: sources are written as they are, rounding has heads, views have forms of their own.
bool is_callable(const Op& op) {
  return !is_head(op.name) && (op.gather == Gather::map || op.gather == Gather::reduce || op.gather == Gather::sum);
}


}  // namespace

std::vector<WordList> all_words() {
  WordList items{"item", {}}, statements{"statement", {}}, operators{"operator", {}}, all_heads{"head", {}}, functions{"function", {}};
  for (const std::string_view w : reserved_words()) {
    const bool is_operator = w == "and" || w == "or" || w == "not";
    (is_head(w) ? all_heads : is_item_word(w) ? items : is_operator ? operators : statements).words.emplace_back(w);
  }
  for (const char* w : {"normal", "uniform", "integers"}) functions.words.emplace_back(w);  // of examples
  statements.words.emplace_back("mutant");
  for (const Op* op : all_ops())
    if (!is_reserved(op->name) && (is_callable(*op) || Lowering::specials().contains(std::string(op->name)))) functions.words.emplace_back(op->name);
  for (const auto& [name, _] : Lowering::specials())
    if (!find_op(name)) functions.words.push_back(name);
  functions.words.emplace_back("tiles");
  for (const PreludeFunction& f : prelude_functions()) functions.words.push_back(f.call.substr(0, f.call.find('(')));
  std::vector<std::string> formats = format_names();
  std::erase_if(formats, [](const std::string& f) { return f.find('.') != f.npos; });  // torch.bfloat16 is no word of the language
  return {items, statements, operators, all_heads, functions,
          {"constant", {"true", "false", "nan", "inf", "pi", "None"}},
          {"type", {"real", "int", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "int8", "int16", "int32", "int64", "uint8",
                    "uint16", "uint32", "uint64", "complex32", "complex64", "complex128", "format"}},
          {"format", formats},
          {"option", {"rne", "rna", "rtz", "rtp", "rtn", "rto", "sr", "faithful", "sat", "sat_finite", "nosat", "ftz", "daz", "contract", "any",
                      "assoc", "seq", "rseq", "pairwise", "blocked", "split", "height", "tensor_core"}}};
}

std::vector<std::string> Lowering::function_names() const {
  std::vector<std::string> names;
  for (const Op* op : all_ops()) {
    if (is_callable(*op)) names.emplace_back(op->name);
  }
  for (const auto& [name, _] : specials()) names.push_back(name);
  for (const auto& [name, _] : items_->functions) names.push_back(name);
  for (const auto& [name, _] : prelude().functions) names.push_back(name);
  for (const char* head : {"round", "acc", "within", "any_of", "approx", "scan", "cast", "wrap", "saturate"}) names.emplace_back(head);
  return names;
}

Lowering::Arguments Lowering::arguments(const Syntax& call, const std::vector<std::string>& keywords, std::size_t min, std::size_t max) {
  Arguments sorted;
  const Syntax& list = call.children.back();
  for (const Syntax& a : list.children) {
    if (!a.is(Form::argument)) {
      if (!sorted.named.empty()) {
        error({span(a), "a value without a keyword comes before those with one", ""});
        sorted.ok = false;
      }
      sorted.positional.push_back(&a);
      continue;
    }
    if (std::find(keywords.begin(), keywords.end(), a.text) == keywords.end()) {
      const Span word{ast().source, a.begin, a.begin + static_cast<std::uint32_t>(a.text.size())};
      Diagnostic d{word, "`" + call.text + "` has no argument `" + a.text + "`", ""};
      const Foreign* other = foreign(a.text);
      const bool told = other && std::find(keywords.begin(), keywords.end(), other->here) != keywords.end() && tell_foreign(d, a.text, word);
      const std::string near = told ? "" : did_you_mean(a.text, keywords);
      if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?").suggest(word, near);
      error(std::move(d));
      sorted.ok = false;
    } else if (!sorted.named.emplace(a.text, &a[0]).second) {
      error({span(a), "`" + a.text + "` is given twice", ""});
      sorted.ok = false;
    }
  }
  if (sorted.positional.size() < min || sorted.positional.size() > max) {
    const std::string wanted = min == max  ? plural(min, "argument")
                               : min == 0  ? "at most " + plural(max, "argument")
                               : max > 100 ? "at least " + plural(min, "argument")
                                           : std::to_string(min) + " to " + plural(max, "argument");
    Diagnostic d{span(call), "`" + call.text + "` takes " + wanted + ", found " + std::to_string(sorted.positional.size()), ""};
    if (const Op* op = find_op(call.text)) d.label = std::string(op->doc);
    if (call.text == "tiles") d.label = "tiles(N, 128): slices of at most 128 elements";
    if (sorted.positional.size() > max && (call.text == "zeros" || call.text == "ones")) {
      const Span shape{ast().source, sorted.positional.front()->begin, sorted.positional.back()->end};
      std::move(d).suggest(shape, "(" + std::string(shape.text()) + ")");
    } else if (sorted.positional.size() == max + 1 && call.text != "max" && call.text != "min" && !sorted.named.contains("axis") &&
               std::find(keywords.begin(), keywords.end(), "axis") != keywords.end()) {
      const Span last = span(*sorted.positional.back());
      std::move(d).suggest(last, "axis=" + std::string(last.text()));
    }
    if (call.text == "max" || call.text == "min") std::move(d).note({}, "of two values: " + call.text + "imum(x, y)");
    error(std::move(d));
    sorted.ok = false;
  }
  return sorted;
}

Value Lowering::call(const Syntax& s, const Manner& mode) {
  const std::string& name = s.text;
  auto special = specials().find(name);
  if (special != specials().end()) return (this->*special->second)(s, mode);
  auto function = items_->functions.find(name);
  if (function != items_->functions.end()) return user_function(function->second, s, mode);
  const auto standard = prelude().functions.find(name);
  if (standard != prelude().functions.end()) return standard_function(standard->second, s, mode);
  if (formats_.count(name) || items_->formats.count(name) || (find_format(name) && !find_op(name))) {  // bf16(e)
    Arguments given = arguments(s, {}, 1, 1);
    Syntax word{Form::name, name, {}, s.begin, s.begin + static_cast<std::uint32_t>(name.size())};
    Attributes attributes;
    attributes.format = format(word);
    if (!given.ok) return Value::unknown(span(s));
    if (!attributes.format) {
      expression(*given.positional[0], mode);
      is_complete = false;
      return Value::unknown(span(s));
    }
    return round_to(attributes, *given.positional[0], span(s), mode);
  }
  const Op* op = find_op(name);
  if (op && is_callable(*op)) return operation(*op, s, mode);
  const Span word{ast().source, s.begin, s.begin + static_cast<std::uint32_t>(name.size())};
  Diagnostic d{word, "unknown function `" + name + "`", find(name) ? "this is a value, not a function" : ""};
  const bool told = tell_foreign(d, name, word);
  const std::string near = told ? "" : did_you_mean(name, function_names());
  if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?").suggest(word, near);
  if (items_->specs.count(name)) d.label = "a spec is checked, not called; make it a fn";
  error(std::move(d));
  for (const Syntax& a : s[0].children) {
    if (!a.is(Form::argument) && !a.is(Form::set)) expression(a, mode);
  }
  return Value::unknown(span(s));
}

Value Lowering::operation(const Op& op, const Syntax& s, const Manner& mode) {
  const bool reduces = op.gather == Gather::reduce || op.sum_role == SumRole::reduction;
  if (mode.kind == Manner::Kind::within && is_sum(s)) return within_sum(s, mode);
  if (reduces) return reduction(op, s, mode, false);
  const std::size_t max = op.operands_max < 0 ? 1000000 : static_cast<std::size_t>(op.operands_max);
  Arguments given = arguments(s, {}, static_cast<std::size_t>(op.operands_min), max);
  std::vector<Value> values;
  for (const Syntax* p : given.positional) values.push_back(expression(*p, mode));
  if (!given.ok) return Value::unknown(span(s));
  return apply(op, std::move(values), {}, span(s), mode);
}

Value Lowering::exact(const Syntax& s, const Manner&) {
  Arguments given = arguments(s, {}, 1, 1);
  if (!given.ok) return Value::unknown(span(s));
  Value v = expression(*given.positional[0], Manner{});
  v.product.reset();
  v.at = span(s);
  return v;
}

Value Lowering::length(const Syntax& s, const Manner&) {
  Arguments given = arguments(s, {"axis"}, 1, 1);
  if (!given.ok) return Value::unknown(span(s));
  Value x = expression(*given.positional[0], Manner{});
  if (!x.node) return Value::unknown(span(s));
  const Shape shape = graph[*x.node].shape;
  if (shape.empty()) {
    error({x.at, "`len` needs a dimension", "this is a single number"});
    return Value::unknown(span(s));
  }
  const auto named = given.named.find("axis");
  if (named == given.named.end()) return of_dim(shape[0], span(s));
  const auto axis = axis_of(*named->second, s, shape.size());
  return axis ? of_dim(shape[static_cast<std::size_t>(*axis)], span(s)) : Value::unknown(span(s));
}

/// A default of a function: it sees the names of its file only.
Value Lowering::default_of(const Items::Item& item, const Syntax& parameter) {
  auto outer = std::move(scopes_);
  scopes_ = {{}};
  const bool was_bare = std::exchange(bare_, false);
  const Items* const outer_items = std::exchange(items_, item.home);
  Value v = expression(parameter[1], Manner{});
  items_ = outer_items;
  bare_ = was_bare;
  scopes_ = std::move(outer);
  return v;
}

/// Nobody has to read the standard functions to understand a mistake in calling one: it is told at the call.
Value Lowering::standard_function(const Items::Item& item, const Syntax& s, const Manner& mode) {
  const std::size_t before = errors_.size();
  Value v = user_function(item, s, mode);
  bool told = false;
  for (std::size_t k = before; k < errors_.size();) {
    Diagnostic& d = errors_[k];
    std::erase_if(d.notes, [](const auto& note) { return is_prelude(note.span); });
    if (!is_prelude(d.span)) {
      ++k;
      continue;
    }
    if (told) {  // one mistake of the caller's, seen at several places inside
      errors_.erase(errors_.begin() + static_cast<std::ptrdiff_t>(k));
      continue;
    }
    Diagnostic outside{span(s), "in `" + s.text + "`: " + d.what, d.label};
    outside.notes = std::move(d.notes);
    d = std::move(outside);
    told = true;
    ++k;
  }
  return v;
}

Value Lowering::user_function(const Items::Item& item, const Syntax& s, const Manner& mode) {
  const Syntax& fn = *item.syntax;
  const Ast& home = *item.home->ast;
  if (std::find(calls_.begin(), calls_.end(), s.text) != calls_.end()) {
    error(Diagnostic{span(s), "`" + s.text + "` calls itself", "functions are written out where they are called"}.note(home.span(fn),
                                                                                                                       "defined here"));
    return Value::unknown(span(s));
  }
  constexpr int too_many = 1 << 30;  // told, once: what is left of the calls costs nothing
  if (written_out_ >= too_many) return Value::unknown(span(s));
  if (calls_.size() > 20 || ++written_out_ > 100000 || graph.size() > max_nodes) {
    error(
        {span(s), calls_.size() > 20 ? "functions call each other more than 20 deep" : "functions written out here become too large", ""});
    written_out_ = too_many;
    return Value::unknown(span(s));
  }
  const Syntax& parameters = fn[1];
  std::vector<std::string> keywords;
  for (const Syntax& p : parameters.children) keywords.push_back(p.text);
  Arguments given = arguments(s, keywords, 0, parameters.size());
  std::map<std::string, Name> scope;
  bool ok = given.ok;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Syntax& p = parameters[i];
    const Syntax* argument = i < given.positional.size() ? given.positional[i] : nullptr;
    auto named = given.named.find(p.text);
    if (named != given.named.end()) argument = named->second;
    Value v;
    if (argument) {
      v = expression(*argument, mode);
    } else if (p.size() > 1 && !p[1].is(Form::nothing)) {
      v = default_of(item, p);
    } else if (ok) {
      error(Diagnostic{span(s), "`" + s.text + "` needs `" + p.text + "`", "missing here"}.note(home.span(p), "declared here"));
      ok = false;
    }
    if (mode.kind == Manner::Kind::rounded && refuse_wide(v, mode)) ok = false;
    v.product.reset();
    if (v.node && graph[*v.node].name.empty()) graph.store(*v.node, unique(p.text));
    scope[p.text] = {v, home.span(p)};
  }
  if (!ok) return Value::unknown(span(s));
  // The body sees its parameters only; in an `in` the whole call is one operation, in a tolerance each of its operations counts.
  auto outer = std::move(scopes_);
  const bool was_bare = bare_;
  bare_ = false;
  const Items* const outer_items = std::exchange(items_, item.home);
  scopes_ = {std::move(scope)};
  calls_.push_back(s.text);
  const Manner inner = mode.kind == Manner::Kind::within ? mode : Manner{};
  Value result = fn[3].is(Form::block) ? block(fn[3], inner) : expression(fn[3], inner);
  calls_.pop_back();
  scopes_ = std::move(outer);
  bare_ = was_bare;
  items_ = outer_items;
  result.at = span(s);
  result.product.reset();
  result = one_operation(std::move(result), mode);
  if (result.node && graph[*result.node].name.empty()) graph.store(*result.node, unique(s.text));
  return result;
}

void Lowering::check(const Syntax& item) {
  const Op* row = find_op(item.text);
  const bool taken =
      item.is(Form::format_item) ? find_type(item.text).has_value() : specials().count(item.text) || (row && is_callable(*row));
  if (taken) {
    const auto begin = static_cast<std::uint32_t>(span(item).text().find(item.text, 2)) + item.begin;
    error({{ast().source, begin, begin + static_cast<std::uint32_t>(item.text.size())},
           "`" + item.text + "` is part of the language already",
           "choose another name"});
  }
  if (item.is(Form::format_item)) {
    Syntax word{Form::name, item.text, {}, item.begin, item.end};
    format(word);
    return;
  }
  generics(item[0]);
  std::set<std::string> seen;
  for (const Syntax& p : item[1].children) {
    if (!seen.insert(p.text).second) error({span(p), "`" + p.text + "` is declared twice", ""});
    if (!p[0].is(Form::nothing)) {
      for (const Syntax& d : p[0][1].children) declare_dims(d);
      type(p[0]);
    }
    if (!p[1].is(Form::nothing)) expression(p[1], Manner{});
    scopes_.front()[p.text] = {Value::unknown(span(p)), span(p)};
  }
  calls_.push_back(item.text);
  if (item[3].is(Form::block))
    block(item[3], Manner{});
  else
    expression(item[3], Manner{});
}

}  // namespace erx
