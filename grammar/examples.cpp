#include "grammar/examples.hpp"

#include <algorithm>

#include "grammar/words.hpp"

namespace erx {
namespace {

class ExampleReader {
 public:
  ExampleReader(const Ast& ast, std::vector<Diagnostic>& errors) : ast_(ast), errors_(errors) {}

  LiteralTensor tensor(const Syntax& s) {
    LiteralTensor t;
    t.span = ast_.span(s);
    fill(s, 0, t);
    if (!t.imaginary.empty()) t.imaginary.resize(t.elements.size(), "0");
    return t;
  }

 private:
  /// A number as written: 0.3, -1, 3/10, -3/10, nan, -inf, true.
  bool number(const Syntax& s, std::string& text) {
    if (s.is(Form::prefix) && s.text == "-" && number(s[0], text) && text[0] != '-') {
      text = "-" + text;
      return true;
    }
    if (s.is(Form::number)) {
      const WrittenNumber written = written_number(s.text);
      if (written.mistake) errors_.push_back({ast_.span(s), written.mistake, written.label});
      text = written.mistake ? "0" : written.text;
      return true;
    }
    if ((s.is(Form::name) && (s.text == "nan" || s.text == "inf" || s.text == "true" || s.text == "false"))) {
      text = s.text;
      return true;
    }
    if (s.is(Form::chain) && s.size() == 2 && s[1].text == "/" && s[1][0].is(Form::number) && number(s[0], text)) {
      text += "/" + written_number(s[1][0].text).text;
      return s[0].is(Form::number) || s[0].is(Form::prefix);
    }
    return false;
  }

  void fill(const Syntax& s, std::size_t depth, LiteralTensor& t) {
    if (!s.is(Form::array)) {
      std::string text, imaginary;
      const bool pair = s.is(Form::head) && s.text == "complex" && s[0].size() == 0 && s[1].size() == 2;
      if (pair && number(s[1][0], text) && number(s[1][1], imaginary)) {
        t.imaginary.resize(t.elements.size(), "0");
        t.imaginary.push_back(imaginary);
      } else if (!number(s, text)) {
        if (!s.is(Form::error)) {
          errors_.push_back({ast_.span(s), "expected a number or a list of numbers", "as in 0.5, 3/10, nan, inf, true or complex(1, 2)"});
        }
        text = "0";
      }
      if (depth < t.extents.size()) ragged(s, "a list of " + std::to_string(t.extents[depth]));
      leaf_depth_ = depth;
      t.elements.push_back(text);
      return;
    }
    const auto count = static_cast<std::int64_t>(s.size());
    if (depth == t.extents.size()) {
      if (!t.elements.empty() && depth == leaf_depth_) {
        ragged(s, "a number");
        return;
      }
      t.extents.push_back(count);
    } else if (t.extents[depth] != count) {
      ragged(s, std::to_string(t.extents[depth]) + " elements");
    }
    for (const Syntax& c : s.children) fill(c, depth + 1, t);
  }

  void ragged(const Syntax& s, const std::string& expected) {
    if (reported_) return;
    reported_ = true;
    const std::string found = s.is(Form::array) ? std::to_string(s.size()) + " elements" : "a number";
    errors_.push_back({ast_.span(s), "the lists have different lengths", "found " + found + ", expected " + expected});
  }

  const Ast& ast_;
  std::vector<Diagnostic>& errors_;
  std::size_t leaf_depth_ = 0;
  bool reported_ = false;
};

}  // namespace

Example read_example(const Ast& ast, const Syntax& item, const std::vector<Spec>& specs, std::vector<Diagnostic>& errors) {
  Example example;
  example.span = ast.span(item);
  example.text = item[1].text;
  example.spec = item[0].is(Form::nothing) ? "" : item[0].text;
  const Spec* spec = nullptr;
  std::vector<std::string> names;
  for (const Spec& s : specs) {
    names.push_back(s.name);
    if (s.name == example.spec || (example.spec.empty() && specs.size() == 1)) spec = &s;
  }
  const bool incomplete = std::any_of(ast.items.begin(), ast.items.end(), [](const Syntax& s) { return s.is(Form::error); });
  if (!spec && !incomplete) {
    if (specs.empty()) {
      errors.push_back({ast.span(item), "an example without a spec", "this file has none"});
    } else if (example.spec.empty()) {
      errors.push_back({{ast.source, item.begin, item.begin + 7},
                        "this example does not say its spec",
                        "the file has several: example " + names[0] + " \"...\""});
    } else {
      Diagnostic d{ast.span(item[0]), "unknown spec `" + example.spec + "`", ""};
      const std::string near = did_you_mean(example.spec, names);
      if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?").suggest(ast.span(item[0]), near);
      errors.push_back(std::move(d));
    }
  }
  std::vector<std::string> inputs, results;
  if (spec) {
    for (const auto& p : spec->parameters) inputs.push_back(p.name);
    for (const auto& r : spec->results) results.push_back(r.name);
  }
  std::vector<std::string> given;
  for (const Syntax& line : item[2].children) {
    if (line.is(Form::error)) continue;
    ExampleLine l;
    l.kind = line.is(Form::input_line)    ? ExampleLine::Kind::input
             : line.is(Form::covers_line) ? ExampleLine::Kind::covers
                                          : ExampleLine::Kind::rejects;
    l.name = line.text;
    l.span = ast.span(line);
    l.value = ExampleReader(ast, errors).tensor(line[0]);
    const bool is_input = l.kind == ExampleLine::Kind::input;
    const auto& known = is_input ? inputs : results;
    const auto begin =
        static_cast<std::uint32_t>(l.span.begin + ast.source->text.substr(l.span.begin, l.span.end - l.span.begin).find(l.name));
    const Span word{ast.source, begin, begin + static_cast<std::uint32_t>(l.name.size())};
    const bool found = std::find(known.begin(), known.end(), l.name) != known.end() || (!is_input && l.name.empty() && known.size() == 1);
    if (spec && !found && !spec->parameters.empty()) {
      Diagnostic d;
      if (l.name.empty()) {
        d = {l.span, "this line does not say which result it means", "the spec has several, as in covers " + results[0] + " = ..."};
      } else {
        d = {word, std::string(is_input ? "unknown input `" : "unknown result `") + l.name + "`", "not in the signature of the spec"};
        const std::string near = did_you_mean(l.name, known);
        if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?").suggest(word, near);
      }
      errors.push_back(std::move(d));
    }
    if (is_input) {
      if (std::find(given.begin(), given.end(), l.name) != given.end()) errors.push_back({word, "`" + l.name + "` is given twice", ""});
      given.push_back(l.name);
    }
    example.lines.push_back(std::move(l));
  }
  const bool whole = std::none_of(item[2].children.begin(), item[2].children.end(), [](const Syntax& l) { return l.is(Form::error); });
  if (spec && whole) {
    for (const auto& p : spec->parameters) {
      if (!p.has_default && std::find(given.begin(), given.end(), p.name) == given.end()) {
        errors.push_back(
            Diagnostic{{ast.source, item.begin, item.begin + 7}, "this example gives no `" + p.name + "`", "missing input"}.note(
                p.span, "declared here"));
      }
    }
  }
  return example;
}

}  // namespace erx
