// Signatures: what a spec takes, its defaults, and the two ways to lower: with names for dimensions, or for one call.
#include <algorithm>
#include <cmath>

#include "grammar/foreign.hpp"
#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {
namespace {

/// A number as a whole one; beyond 2^53 no dimension lies.
std::int64_t whole(double x) { return std::abs(x) <= 0x1p53 ? static_cast<std::int64_t>(x) : 0; }

}  // namespace
bool has_rest(const Syntax& dims) {
  return std::any_of(dims.children.begin(), dims.children.end(), [](const Syntax& d) { return d.is(Form::rest); });
}

std::optional<Type> Lowering::type(const Syntax& s, bool* generic) {
  const Syntax& what = s[0];
  if (what.is(Form::head) && what.text == "complex") {
    if (what[0].size() == 0) return Type::complex(Type::real());
    if (what[0].size() > 1) error({span(what), "`complex` takes one format, as in complex<f32>", ""});
    const Syntax& word = what[0][0];
    const auto bound = word.is(Form::name) ? formats_.find(word.text) : formats_.end();
    if (bound != formats_.end() && generic) *generic = true;
    if (bound != formats_.end()) return bound->second ? std::optional(Type::complex(Type::of(*bound->second))) : std::nullopt;
    const auto f = format(word);
    return f ? std::optional(Type::complex(Type::of(*f))) : std::nullopt;
  }
  if (what.is(Form::name)) {
    auto bound = formats_.find(what.text);
    if (bound != formats_.end()) {
      if (generic) *generic = true;
      return bound->second ? std::optional(Type::of(*bound->second)) : std::nullopt;
    }
    if (!items_->formats.count(what.text)) {
      if (auto known = find_type(what.text)) return known;
      std::vector<std::string> names = format_names();
      for (const char* t : {"real", "int", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) names.emplace_back(t);
      for (const auto& [name, _] : items_->formats) names.push_back(name);
      Diagnostic d{span(what), "unknown type `" + what.text + "`", ""};
      const std::string near = tell_foreign(d, what.text, span(what)) ? "" : did_you_mean(what.text, names);
      if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?").suggest(span(what), near);
      error(std::move(d));
      return {};
    }
  }
  auto f = format(what);
  return f ? std::optional(Type::of(*f)) : std::nullopt;
}

void Lowering::declare_dims(const Syntax& s) {
  if (s.is(Form::name) && !find(s.text)) dims_.emplace(s.text, span(s));
  if (s.is(Form::rest)) return;
  for (const Syntax& c : s.children) declare_dims(c);
}

std::optional<Shape> Lowering::declared_shape(const Syntax& dims) {
  Shape shape;
  if (dims.is(Form::nothing)) return shape;
  bool known = true;
  for (const Syntax& d : dims.children) {
    if (d.is(Form::rest)) {
      auto rest = rests_.find(d.text);
      if (d.text.empty() || rest == rests_.end())
        known = false;
      else
        shape.insert(shape.end(), rest->second.begin(), rest->second.end());
      continue;
    }
    auto dim = dimension(d);
    if (!dim)
      known = false;
    else
      shape.push_back(*dim);
  }
  return known ? std::optional(shape) : std::nullopt;
}

void Lowering::generics(const Syntax& s) {
  for (const Syntax& g : s.children) {
    const Span at = span(g);
    if (formats_.count(g.text)) {
      error({at, "`" + g.text + "` is defined twice", ""});
      continue;
    }
    if (g[0].text != "format") {
      error({span(g[0]), "a parameter between < and > is a `format`", "write " + g.text + ": format"});
    }
    formats_[g.text] = std::nullopt;
    if (!g[1].is(Form::nothing)) format(g[1]);  // checked here, used where no input fixes it
    is_generic = true;
  }
}

void Lowering::input(const Syntax& p, const Binding* bound) {
  const Span at{ast().source, p.begin, p.begin + static_cast<std::uint32_t>(p.text.size())};
  const Syntax& dims = p[0][1];
  bool generic = false;
  auto declared = type(p[0], &generic);
  Value v = Value::unknown(at);
  std::optional<Shape> shape;
  if (bound) {
    if (declared && (generic || accepts(*declared, *bound, p))) shape = shape_of(bound->extents);
  } else if (has_rest(dims)) {
    is_generic = true;
  } else {
    shape = declared_shape(dims);
  }
  if (declared && declared->is_real() && !dims.is(Form::nothing)) {
    error({span(p[0]), "`" + to_string(*declared) + "` is one exact number; a tensor has a format",
           declared->is_complex ? "write complex<f64>[...] for doubles" : "write f64[...] for doubles"});
    declared.reset();
  }
  if (declared && shape) {
    v.node = build_input(graph, p.text, *declared, *shape, declared->is_real(), span(p));
    taken_.insert(p.text);
    if (declared->is_integer() && shape->empty()) {
      if (!bound)
        v.dim = Dim(p.text);
      else if (bound->value && *bound->value == static_cast<double>(whole(*bound->value)))
        v.dim = Dim(whole(*bound->value));
    }
  } else {
    is_complete = false;
  }
  scopes_.front()[p.text] = {v, at};
}

void Lowering::default_input(const Syntax& p) {
  const Span at{ast().source, p.begin, p.begin + static_cast<std::uint32_t>(p.text.size())};
  auto declared = type(p[0]);
  auto shape = declared_shape(p[0][1]);
  Value v = expression(p[1], Manner{});
  const std::optional<Dim> dim = v.dim;
  if (v.is_tuple) {
    error({v.at, "a default is one value", ""});
    v = Value::unknown(v.at);
  }
  if (v.node && declared && shape) {
    const auto number = literal_leaf(*v.node);
    if (declared->is_floating() && !contains(*declared, graph[*v.node].type)) {
      // A number that the format holds is exact; anything else has to say how it is rounded.
      Attributes attributes;
      attributes.format = declared->format;
      const auto text = number ? graph[*number].attributes.text : std::string();
      if (number && holds_literal(declared->format, text)) {
        v.node = build(op("round"), {*v.node}, attributes, {v.at}, v.at);
      } else {
        error(Diagnostic{v.at, "the default of `" + p.text + "` is not rounded, and its type is " + to_string(*declared), ""}.suggest(
            v.at, "round<" + declared->format.name + ">(" + std::string(v.at.text()) + ")"));
        v = Value::unknown(v.at);
      }
    } else if (is_complex(v) && !declared->is_complex) {
      error({v.at, "the default of `" + p.text + "` is complex, and its type is " + to_string(*declared), ""});
      v = Value::unknown(v.at);
    } else if (declared->is_boolean() != graph[*v.node].type.is_boolean()) {
      error(
          {v.at, "the default of `" + p.text + "` is " + to_string(graph[*v.node].type) + ", and its type is " + to_string(*declared), ""});
      v = Value::unknown(v.at);
    }
  }
  if (declared) v = as_declared(v, *declared);
  if (v.node && shape && !(graph[*v.node].shape == *shape)) {
    Attributes attributes;
    attributes.shape = *shape;
    v = view(op("broadcast"), v, std::move(attributes), v.at);
  }
  if (v.node && graph[*v.node].name.empty()) graph.store(*v.node, unique(p.text), declared && declared->is_real());
  if (declared && declared->is_integer()) {
    v.dim = dim;
    auto used = sizes_.find(p.text);  // as a dimension of an input
    if (used != sizes_.end() && dim && dim->is_number() && dim->value() != used->second.value) {
      error(Diagnostic{at,
                       "`" + p.text + "` is " + std::to_string(dim->value()) + " by default and " + std::to_string(used->second.value) +
                           " in `" + used->second.from + "`",
                       ""}
                .note(used->second.at, "here " + std::to_string(used->second.value)));
    }
  }
  scopes_.front()[p.text] = {v, at};
}

void Lowering::inputs(const Syntax& list, const Bindings* bindings) {
  std::set<std::string> seen;
  for (const Syntax& p : list.children) {
    const Span at{ast().source, p.begin, p.begin + static_cast<std::uint32_t>(p.text.size())};
    if (!seen.insert(p.text).second) error({at, "`" + p.text + "` is declared twice", ""});
    Parameter parameter{p.text, {}, {}, !p[1].is(Form::nothing), span(p)};
    parameters.push_back(std::move(parameter));
  }
  for (const Syntax& p : list.children) {
    for (const Syntax& d : p[0][1].children) declare_dims(d);
  }
  for (const Syntax& p : list.children) {
    const auto dim = dims_.find(p.text);
    if (dim == dims_.end()) continue;
    if (!p[0][1].is(Form::nothing)) {
      const Span at{ast().source, p.begin, p.begin + static_cast<std::uint32_t>(p.text.size())};
      error(Diagnostic{dim->second, "`" + p.text + "` is an input and a dimension", "a dimension here"}.note(at, "the input; give one of them another name"));
      scopes_.front()[p.text] = {Value::unknown(at), at};  // has been reported
    }
    dims_.erase(dim);  // else an int parameter used as a dimension
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Syntax& p = list[i];
    parameters[i].type = type(p[0]);
  }
  if (bindings) {
    check_names(*bindings, span(list));
    for (const Syntax& p : list.children) {
      auto b = bindings->find(p.text);
      // Whole numbers first: they may be dimensions of the others.
      if (b != bindings->end() && p[0][1].is(Form::nothing) && b->second.value && type(p[0]) && type(p[0])->is_integer())
        input(p, &b->second);
    }
  }
  if (bindings) {
    for (const Syntax& p : list.children) {
      auto b = bindings->find(p.text);
      if (b != bindings->end()) unify(p, b->second);
    }
    for (const Syntax& p : list.children) {  // formulas, now that plain dimensions are known
      auto b = bindings->find(p.text);
      if (b == bindings->end() || has_rest(p[0][1]) || b->second.extents.size() != p[0][1].size()) continue;
      for (std::size_t k = 0; k < p[0][1].size(); ++k) {
        const Syntax& d = p[0][1][k];
        const bool is_int = d.is(Form::name) && find(d.text);
        if (is_int || !(d.is(Form::name) || d.is(Form::number))) unify_dim(d, b->second.extents[k], p);
      }
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Syntax& p = list[i];
    if (find(p.text)) continue;
    const Binding* bound = nullptr;
    if (bindings) {
      auto b = bindings->find(p.text);
      if (b != bindings->end()) bound = &b->second;
    }
    if (bindings && !bound) {
      if (!p[1].is(Form::nothing))
        default_input(p);
      else
        scopes_.front()[p.text] = {Value::unknown(span(p)), span(p)};
      continue;
    }
    if (keep_defaults && !p[1].is(Form::nothing) && parameters[i].type && parameters[i].type->is_real()) {
      default_input(p);
      continue;
    }
    input(p, bound);
    if (!bound && !p[1].is(Form::nothing)) expression(p[1], Manner{});  // its mistakes are told once
    const Name* n = find(p.text);
    if (!bound && n && n->value.node) parameters[i].shape = graph[*n->value.node].shape;
  }
  // The order of the graph's inputs is that of the signature.
  std::stable_sort(graph.inputs.begin(), graph.inputs.end(), [&](NodeId a, NodeId b) {
    auto at = [&](NodeId id) {
      return std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == graph[id].attributes.text; });
    };
    return at(a) < at(b);
  });
}

void Lowering::spec(const Syntax& item, const Bindings* bindings) {
  concrete_ = bindings != nullptr;
  graph.name = item.text;
  const std::size_t before = errors_.size();
  generics(item[0]);
  try {
    inputs(item[1], bindings);
  } catch (const Error& e) {
    place(e, span(item[1]));
    return;
  }
  if (bindings && errors_.size() > before) return;  // a wrong call: nothing of the body would be news
  for (const Syntax& g : item[0].children) {
    if (bindings && !formats_[g.text] && !g[1].is(Form::nothing)) formats_[g.text] = format(g[1]);
    if (bindings && !formats_[g.text]) error({span(g), "no input tells the format `" + g.text + "`", "give it a default"});
  }
  std::set<std::string> seen;
  for (const Syntax& r : item[2].children) {
    Declared d{r.text, {}, {}, span(r)};
    if (!seen.insert(r.text).second) error({span(r), "two results are called `" + r.text + "`", ""});
    d.type = type(r[0]);
    const Syntax& dims = r[0][1];
    for (const Syntax& dim : dims.children) {
      if (dim.is(Form::rest) && !dim.text.empty() && bindings && !rests_.count(dim.text)) {
        error({span(dim), "`..." + dim.text + "` is in no input", ""});
      }
    }
    try {
      d.shape = declared_shape(dims);
    } catch (const Error& e) {
      place(e, span(dims));
    }
    results.push_back(std::move(d));
  }
  const Value v = block(item[3], Manner{});
  give(item[2], v);
}

void Lowering::bare(const Syntax& item, const Bindings* bindings) {
  concrete_ = bindings != nullptr;
  bare_ = true;
  if (bindings) {
    // First with nothing bound, to learn the free names in their order; then with values.
    std::vector<Diagnostic> ignored, also;
    Lowering names(*items_, ignored, also);
    names.bare(item, nullptr);
    const std::size_t before = errors_.size();
    parameters = names.parameters;
    check_names(*bindings, span(item));
    if (errors_.size() > before) return;
    for (const auto& p : parameters) {
      const Binding& b = bindings->at(p.name);
      const bool number = b.extents.empty() && (b.type.is_real() || (b.type.is_integer() && b.type.bits == 0));
      Value v;
      v.at = p.span;
      v.node = build_input(graph, p.name, b.type, shape_of(b.extents), number, p.span);
      if (b.type.is_integer() && b.extents.empty() && b.value) v.dim = Dim(whole(*b.value));
      taken_.insert(p.name);
      scopes_.front()[p.name] = {v, p.span};
    }
    parameters = names.parameters;
  }
  const Value v = block(item, Manner{});
  if (v.is_tuple) {
    for (std::size_t i = 0; i < v.parts.size(); ++i) results.push_back({std::to_string(i), {}, {}, v.parts[i].at});
  } else {
    results.push_back({"", {}, {}, v.at});
  }
  give(item, v);
}

}  // namespace erx
