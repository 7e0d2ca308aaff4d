#include "grammar/examples.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "grammar/words.hpp"

namespace erx {
namespace {

constexpr std::int64_t max_drawn = 1 << 20;

const std::map<std::string_view, Generator::Kind> generators = {
    {"normal", Generator::Kind::normal}, {"uniform", Generator::Kind::uniform}, {"integers", Generator::Kind::integers}};

class ExampleReader {
 public:
  ExampleReader(const Ast& ast, std::vector<Diagnostic>& errors) : ast_(ast), errors_(errors) {}

  LiteralTensor tensor(const Syntax& s) {
    LiteralTensor t;
    if (s.is(Form::call) && generators.contains(s.text)) {
      draw(s, t);
    } else if (const Syntax* inner = formatted(s)) {
      t = tensor(*inner);
      t.format = *find_format(s.text);
    } else {
      fill(s, 0, t);
      if (!t.imaginary.empty()) t.imaginary.resize(t.elements.size(), "0");
    }
    t.span = ast_.span(s);
    return t;
  }

  /// Numbers, lists of them or drawn ones, in contrast to an expression.
  bool is_value(const Syntax& s) {
    std::string text;
    const std::size_t before = errors_.size();
    const bool is_number = number(s, text);  // its mistakes are told by `tensor`
    errors_.resize(before);
    const bool pair = s.is(Form::head) && s.text == "complex" && s[1].size() == 2 && is_value(s[1][0]) && is_value(s[1][1]);
    const Syntax* inner = formatted(s);
    return is_number || pair || s.is(Form::array) || s.is(Form::error) || (s.is(Form::call) && generators.contains(s.text)) ||
           (inner && is_value(*inner));
  }

 private:
  /// x of `bf16(x)`.
  static const Syntax* formatted(const Syntax& s) {
    const bool rounds = s.is(Form::call) && find_format(s.text) && s[0].size() == 1 && !s[0][0].is(Form::argument);
    return rounds ? &s[0][0] : nullptr;
  }

  /// normal(seed=1, 4, 8), uniform(seed=2, 3, lo=-1, hi=1), integers(seed=3, 3, lo=0, hi=10)
  void draw(const Syntax& call, LiteralTensor& t) {
    Generator g;
    g.kind = generators.at(call.text);
    const bool is_normal = g.kind == Generator::Kind::normal, is_whole = g.kind == Generator::Kind::integers;
    const char *first = is_normal ? "mean" : "lo", *second = is_normal ? "std" : "hi";
    bool has_seed = false, has_hi = false;
    std::int64_t count = 1;
    for (const Syntax& a : call[0].children) {
      if (!a.is(Form::argument)) {
        const auto extent = whole(a, "an extent");
        if (extent && *extent > max_drawn / std::max<std::int64_t>(count, 1))
          wrong(a, "an example draws at most " + std::to_string(max_drawn) + " numbers at once", "");
        else if (extent)
          count *= *extent;
        t.extents.push_back(extent.value_or(0));
      } else if (a.text == "seed") {
        has_seed = true;
        g.seed = static_cast<std::uint64_t>(whole(a[0], "a seed").value_or(0));
      } else if (a.text == first) {
        g.first = real(a[0], is_whole);
      } else if (a.text == second) {
        has_hi = true;
        g.second = real(a[0], is_whole);
      } else {
        wrong(a, "`" + call.text + "` has no argument `" + a.text + "`", std::string("it takes seed, ") + first + ", " + second + " and the extents");
      }
    }
    if (!has_seed) {
      const std::string rest(call[0].size() ? ast_.span(call).text().substr(call.text.size() + 1) : ")");
      Diagnostic d{ast_.span(call), "`" + call.text + "` has no seed", "the same numbers have to come on every machine"};
      errors_.push_back(std::move(d).suggest(ast_.span(call), call.text + "(seed=1" + (call[0].size() ? ", " : "") + rest));
    }
    if (is_whole && !has_hi) wrong(call, "`integers` needs `hi`, the first number that is too large", "as in integers(seed=1, 4, lo=0, hi=10)");
    if (is_normal ? !(g.second > 0) : has_hi && !(g.first < g.second))
      wrong(call, is_normal ? "`std` has to be positive" : "`lo` has to be less than `hi`", "");
    t.drawn = g;
  }

  void wrong(const Syntax& at, const std::string& what, const std::string& label) { errors_.push_back({ast_.span(at), what, label}); }

  std::optional<std::int64_t> whole(const Syntax& s, const std::string& what) {
    std::int64_t value = -1;
    if (s.is(Form::number)) {
      const char *begin = s.text.data(), *end = begin + s.text.size();
      const auto read = std::from_chars(begin, end, value);
      if (read.ec != std::errc() || read.ptr != end) value = -1;
    }
    if (value >= 0) return value;
    wrong(s, what + " is a whole number here", "as in normal(seed=1, 4, 8)");
    return {};
  }

  double real(const Syntax& s, bool is_whole) {
    std::string text;
    double parts[2] = {0, 1};
    if (number(s, text)) {
      const std::size_t bar = std::min(text.find('/'), text.size());
      std::from_chars(text.data(), text.data() + bar, parts[0]);
      if (bar < text.size()) std::from_chars(text.data() + bar + 1, text.data() + text.size(), parts[1]);
    }
    const double x = parts[0] / parts[1];
    if (text.empty() || !std::isfinite(x) || (is_whole && (std::trunc(x) != x || std::abs(x) > 0x1p53)))
      wrong(s, std::string("expected a ") + (is_whole ? "whole " : "") + "number", "");
    return x;
  }

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
      ragged(s, plural(static_cast<std::size_t>(t.extents[depth]), "element"));
    }
    for (const Syntax& c : s.children) fill(c, depth + 1, t);
  }

  void ragged(const Syntax& s, const std::string& expected) {
    if (reported_) return;
    reported_ = true;
    const std::string found = s.is(Form::array) ? plural(s.size(), "element") : "a number";
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
             : line.is(Form::mutant_line) ? ExampleLine::Kind::mutant
                                          : ExampleLine::Kind::rejects;
    l.name = line.text;
    l.span = ast.span(line);
    const bool is_input = l.kind == ExampleLine::Kind::input;
    ExampleReader reader(ast, errors);
    if (is_input || (l.kind != ExampleLine::Kind::mutant && reader.is_value(line[0])))
      l.value = reader.tensor(line[0]);
    else
      l.expression = &line[0];
    if (l.kind == ExampleLine::Kind::mutant) {
      example.lines.push_back(std::move(l));
      continue;
    }
    const auto& known = is_input ? inputs : results;
    const std::size_t keyword = is_input ? 0 : line.is(Form::covers_line) ? 6 : 7;  // it may hold the letters of the name
    const auto begin = static_cast<std::uint32_t>(ast.source->text.find(l.name, l.span.begin + keyword));
    const Span word{ast.source, begin, begin + static_cast<std::uint32_t>(l.name.size())};
    const bool is_whole = !is_input && l.name.empty() && (known.size() == 1 || l.expression);  // an expression may be all results
    const bool found = std::find(known.begin(), known.end(), l.name) != known.end() || is_whole;
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
