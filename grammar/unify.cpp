// A call: do its inputs have the types and shapes of the signature? Dimensions, ...S and generic formats unify over all of them.
#include <algorithm>

#include "grammar/lower.hpp"

namespace erx {
namespace {

std::string shape_text(const Extents& e) { return to_string(shape_of(e)); }

std::string dimensions(std::size_t n) { return std::to_string(n) + (n == 1 ? " dimension" : " dimensions"); }

}  // namespace

void Lowering::check_names(const Bindings& given, const Span& at) {
  std::vector<std::string> known;
  std::string list;
  for (const auto& p : parameters) {
    known.push_back(p.name);
    list += (list.empty() ? "" : ", ") + p.name;
  }
  for (const auto& [name, _] : given) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Diagnostic d{{}, "there is no input `" + name + "`; the inputs are " + (list.empty() ? "none" : list), ""};
    const std::string near = did_you_mean(name, known);
    if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?");
    error(std::move(d));
  }
  for (const auto& p : parameters) {
    if (p.has_default || given.count(p.name)) continue;
    error({p.span ? p.span : at, "missing input `" + p.name + "`", "give a value for it"});
  }
}

bool Lowering::accepts(const Type& declared, const Binding& b, const Syntax& parameter) {
  const bool number = b.extents.empty() && (b.type.is_real() || b.type.is_integer());
  const bool complex_for_real = b.type.is_complex && !declared.is_complex;
  if (declared.is_real() && !b.type.is_boolean() && !complex_for_real) return true;
  if (contains(declared, b.type)) return true;
  if (number && !complex_for_real && (declared.is_floating() || declared.is_integer())) return true;  // whether it is a value of the type is seen later
  Diagnostic d{span(parameter[0]), "`" + parameter.text + "` is " + to_string(b.type) + ", and the spec takes " + to_string(declared), ""};
  if (declared.is_floating() && b.type.is_floating() && !complex_for_real)
    d.label = "not every value of " + to_string(b.type) + " is a value of " + to_string(declared);
  error(std::move(d));
  return false;
}

bool Lowering::unify_dim(const Syntax& dim, std::int64_t extent, const Syntax& parameter) {
  auto mismatch = [&](const std::string& expected) {
    Diagnostic d{span(dim), "`" + parameter.text + "` has " + std::to_string(extent) + " where its type says " + expected, ""};
    error(std::move(d));
    return false;
  };
  if (dim.is(Form::name) && !find(dim.text)) {
    auto [known, fresh] = sizes_.emplace(dim.text, Size{extent, parameter.text, span(dim)});
    if (fresh || known->second.value == extent) return true;
    error(Diagnostic{span(dim),
                     "`" + dim.text + "` is " + std::to_string(known->second.value) + " in `" + known->second.from + "` and " +
                         std::to_string(extent) + " in `" + parameter.text + "`",
                     "here " + std::to_string(extent)}
              .note(known->second.at, "here " + std::to_string(known->second.value)));
    return false;
  }
  // A formula: its names are known, or one of them follows from it.
  concrete_ = false;
  auto formula = dimension(dim);
  concrete_ = true;
  if (!formula) return false;
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, size] : sizes_) sizes[name] = size.value;
  std::vector<std::string> open;
  for (const auto& name : formula->names()) {
    if (!sizes.count(name) && std::find(open.begin(), open.end(), name) == open.end()) open.push_back(name);
  }
  if (open.size() == 1) {
    const std::int64_t t = 1 << 20;  // a x + b at t and 2t
    sizes[open[0]] = t;
    auto once = formula->evaluate(sizes);
    sizes[open[0]] = 2 * t;
    auto twice = formula->evaluate(sizes);
    if (once && twice && *twice > *once) {
      const std::int64_t slope = *twice - *once, offset = *once - slope;
      if ((extent - offset) * t % slope != 0 || extent < offset) return mismatch("`" + std::string(span(dim).text()) + "`");
      sizes[open[0]] = (extent - offset) * t / slope;
      if (formula->evaluate(sizes) == extent) {
        sizes_[open[0]] = {sizes[open[0]], parameter.text, span(dim)};
        return true;
      }
    }
    error({span(dim), "`" + open[0] + "` cannot be told from `" + std::string(span(dim).text()) + "`",
           "give an input that has it as a dimension"});
    return false;
  }
  if (!open.empty()) {
    error({span(dim), "`" + std::string(span(dim).text()) + "` has several dimensions that no input fixes", ""});
    return false;
  }
  auto value = formula->evaluate(sizes);
  if (!value) {
    error({span(dim), "`" + std::string(span(dim).text()) + "` is not a whole number for these inputs", ""});
    return false;
  }
  return *value == extent || mismatch(std::to_string(*value) + (dim.is(Form::number) ? "" : " (" + std::string(span(dim).text()) + ")"));
}

void Lowering::unify(const Syntax& p, const Binding& b) {
  const Syntax &what = p[0][0], &dims = p[0][1];
  const Syntax* const word = format_word(what);
  if (word && word->is(Form::name) && formats_.count(word->text)) {
    auto& bound = formats_[word->text];
    if (!b.type.is_floating()) {
      error({span(p[0]), "`" + p.text + "` is " + to_string(b.type) + ", and `" + word->text + "` is a floating-point format", ""});
    } else if (b.type.is_complex && word == &what) {
      error({span(p[0]), "`" + p.text + "` is " + to_string(b.type) + ", and `" + word->text + "` is a floating-point format",
             "write complex<" + word->text + "> for complex numbers"});
    } else if (!bound) {
      bound = b.type.format;
      format_from_[word->text] = p.text;
    } else if (!(*bound == b.type.format)) {
      error({span(p[0]),
             "`" + word->text + "` is " + bound->name + " in `" + format_from_[word->text] + "` and " + b.type.format.name + " in `" +
                 p.text + "`",
             ""});
    }
  }
  if (dims.is(Form::nothing)) {
    if (!b.extents.empty())
      error({span(p[0]), "`" + p.text + "` has shape " + shape_text(b.extents) + ", and the spec takes a single number", ""});
    return;
  }
  const std::size_t rank = b.extents.size();
  const bool rest = has_rest(dims);
  const std::size_t least = dims.size() - (rest ? 1 : 0);
  if (rank < least || (!rest && rank != least)) {
    error({span(dims),
           "`" + p.text + "` has " + dimensions(rank) + ", " + shape_text(b.extents) + ", and the spec takes " + (rest ? "at least " : "") +
               dimensions(least),
           ""});
    return;
  }
  std::size_t axis = 0;
  for (const Syntax& d : dims.children) {
    if (!d.is(Form::rest)) {
      const bool plain = d.is(Form::name) || d.is(Form::number);
      if (plain) unify_dim(d, b.extents[axis], p);
      ++axis;
      continue;
    }
    Shape stood;
    for (std::size_t k = least; k < rank; ++k) stood.push_back(Dim(b.extents[axis++]));
    if (d.text.empty()) continue;
    auto [known, fresh] = rests_.emplace(d.text, stood);
    if (!fresh && !(known->second == stood)) {
      error(
          {span(d), "`..." + d.text + "` is " + to_string(known->second) + " before and " + to_string(stood) + " in `" + p.text + "`", ""});
    }
  }
}

}  // namespace erx
