#include "bindings/latex.hpp"

#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "ir/format.hpp"

namespace erx {
namespace {

// What binds more tightly has a higher level.
enum Level { statement, disjunction, conjunction, negation, comparison, additive, product, unary, power, atom };

struct Piece {
  std::string text;
  Level level = atom;
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '_' || c == '%' || c == '#' || c == '&' || c == '{' || c == '}' || c == '$') out += '\\';
    out += c;
  }
  return out;
}

std::string words(const std::string& text) { return "\\text{" + escaped(text) + "}"; }
std::string upright(const std::string& text) { return "\\mathrm{" + escaped(text) + "}"; }
std::string in_parentheses(const std::string& text) { return "\\left(" + text + "\\right)"; }

Piece piece(const Syntax& s);

std::string at_level(const Syntax& s, Level least) {
  const Piece p = piece(s);
  return p.level < least ? in_parentheses(p.text) : p.text;
}

std::string list(const Syntax& s, std::size_t from = 0) {
  std::string text;
  for (std::size_t i = from; i < s.size(); ++i) text += (i > from ? ", " : "") + piece(s[i]).text;
  return text;
}

Piece chain(const Syntax& s) {
  static const std::map<std::string, std::pair<std::string, Level>> operators = {
      {"or", {" \\lor ", disjunction}}, {"and", {" \\land ", conjunction}}, {"<", {" < ", comparison}},    {"<=", {" \\le ", comparison}},
      {">", {" > ", comparison}},       {">=", {" \\ge ", comparison}},     {"==", {" = ", comparison}},   {"!=", {" \\ne ", comparison}},
      {"+", {" + ", additive}},         {"-", {" - ", additive}},           {"*", {" \\cdot ", product}}, {"@", {" \\, ", product}},
      {"%", {" \\bmod ", product}}};
  const auto level_of = [&](const std::string& o) { return operators.contains(o) ? operators.at(o).second : product; };
  Piece left{at_level(s[0], level_of(s[1].text)), level_of(s[1].text)};
  for (std::size_t i = 1; i < s.size(); ++i) {
    const std::string& o = s[i].text;
    if (o == "/") {
      left.text = "\\frac{" + (i == 1 ? piece(s[0]).text : left.text) + "}{" + piece(s[i][0]).text + "}";
    } else if (o == "//") {
      left.text = "\\left\\lfloor\\frac{" + (i == 1 ? piece(s[0]).text : left.text) + "}{" + piece(s[i][0]).text + "}\\right\\rfloor";
    } else {
      const auto& [sign, level] = operators.at(o);
      left.text += sign + at_level(s[i][0], static_cast<Level>(level + 1));
    }
  }
  return left;
}

/// A word, with what stands between < and > or behind `in` as an index.
std::string indexed(const std::string& text, const Syntax& options, std::size_t from) {
  std::string index;
  for (std::size_t i = from; i < options.size(); ++i) {
    const Syntax& o = options[i];
    const std::string value = o.is(Form::argument) ? words(o.text + "=") + piece(o[0]).text : o.is(Form::name) ? upright(o.text) : piece(o).text;
    index += (index.empty() ? "" : ",\\," ) + value;
  }
  return index.empty() ? text : text + "_{" + index + "}";
}

Piece either(const Syntax& alternatives, const std::string& name) {
  std::string text = "\\left\\{\\begin{array}{l}";
  for (std::size_t i = 0; i < alternatives.size(); ++i) text += (i ? " \\\\ \\text{or } " : " ") + piece(alternatives[i]).text;
  return {text + " \\end{array}\\right\\}" + (name.empty() ? "" : "_{" + words(name) + "}")};
}

Piece head(const Syntax& s) {
  const Syntax &options = s[0], &given = s[1];
  if (s.text == "any_of") return either(given, options.size() ? options[0].text : "");
  if (s.text == "complex" && given.size() == 2) return {at_level(given[0], additive) + " + " + at_level(given[1], product) + "\\, i", additive};
  const std::string inner = in_parentheses(list(given));
  const std::string format = options.size() ? piece(options[0]).text : "";
  if (s.text == "round") {
    const std::string word = options.size() && options[0].is(Form::name) ? "\\operatorname{" + escaped(options[0].text) + "}" : "\\operatorname{round}_{" + format + "}";
    return {indexed(word, options, 1) + inner};
  }
  return {indexed("\\operatorname{" + escaped(s.text) + "}", options, 0) + inner};
}

/// "axis 1" of a reduction, or what masks it.
std::string below(const Syntax& given) {
  std::string text;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].is(Form::argument) && given[i].text == "axis") text = words("axis ") + piece(given[i][0]).text;
  if (given.size() && given[0].is(Form::masked)) text = piece(given[0][1]).text + (text.empty() ? "" : ",\\," + text);
  return text.empty() ? "" : "_{" + text + "}";
}

Piece call(const Syntax& s) {
  const Syntax& given = s.children.back();
  const auto only = [&] { return piece(given[0]).text; };
  if (given.size() == 1) {
    if (s.text == "sqrt") return {"\\sqrt{" + only() + "}"};
    if (s.text == "rsqrt") return {"\\frac{1}{\\sqrt{" + only() + "}}"};
    if (s.text == "abs") return {"\\left|" + only() + "\\right|"};
    if (s.text == "floor") return {"\\left\\lfloor " + only() + "\\right\\rfloor"};
    if (s.text == "ceil") return {"\\left\\lceil " + only() + "\\right\\rceil"};
    if (s.text == "conj") return {"\\overline{" + only() + "}"};
  }
  if (s.text == "where" && given.size() == 3)
    return {"\\begin{cases} " + piece(given[1]).text + " & \\text{if } " + piece(given[0]).text + " \\\\ " + piece(given[2]).text + " & \\text{else} \\end{cases}"};
  static const std::map<std::string, std::string> big = {{"sum", "\\sum"}, {"prod", "\\prod"}, {"max", "\\max"}, {"min", "\\min"}};
  if (big.contains(s.text) && given.size() > 0) {
    const Syntax& x = given[0].is(Form::masked) ? given[0][0] : given[0];
    return {big.at(s.text) + below(given) + " " + at_level(x, product), product};
  }
  static const std::set<std::string> known = {"exp", "log", "sin", "cos", "tanh"};
  return {(known.contains(s.text) ? "\\" + s.text : "\\operatorname{" + escaped(s.text) + "}") + in_parentheses(list(given))};
}

Piece postfix(const Syntax& s) {
  std::string text = at_level(s[0], atom);
  for (std::size_t i = 1; i < s.size(); ++i) {
    if (s[i].is(Form::member))
      text = s[i].text == "T" ? text + "^{\\mathsf T}" : text + "." + upright(s[i].text);
    else
      text = "{" + text + "}_{" + list(s[i]) + "}";
  }
  return {text};
}

/// A block inside an expression: its result, then what its names mean.
std::string block(const Syntax& s) {
  std::string value, names;
  for (const Syntax& st : s.children) {
    if (st.is(Form::give)) value = piece(st[0]).text;
    if (st.is(Form::let)) {
      const bool many = st[0].is(Form::names);
      names += ";\\; " + (many ? in_parentheses(list(st[0])) : latex_name(st.text)) + " = " + piece(st[many ? 1 : 0]).text;
    }
  }
  return value + names;
}

Piece fold(const Syntax& s) {
  std::string start, state;
  for (const Syntax& a : s[0].children) {
    start += (start.empty() ? "" : ",\\, ") + latex_name(a.text) + " = " + piece(a[0]).text;
    state += (state.empty() ? "" : ", ") + latex_name(a.text);
  }
  return {words("from ") + start + words(", for ") + latex_name(s[1].text) + words(" in ") + piece(s[2]).text + ":\\; " + (s[0].size() > 1 ? in_parentheses(state) : state) +
              " \\leftarrow " + block(s[3]),
          statement};
}

Piece piece(const Syntax& s) {
  switch (s.form) {
    case Form::number: return {s.text};
    case Form::string: return {words("\"" + s.text + "\"")};
    case Form::name: return {s.text == "inf" ? "\\infty" : s.text == "nan" ? words("NaN") : s.text == "true" || s.text == "false" || s.text == "None" ? words(s.text) : latex_name(s.text)};
    case Form::chain: return chain(s);
    case Form::prefix:
      if (s.text == "not") return {"\\lnot " + at_level(s[0], comparison), negation};
      return {s.text + at_level(s[0], unary), unary};
    case Form::power: {
      std::string text = at_level(s[0], atom);
      for (std::size_t i = 1; i < s.size(); ++i) text = "{" + text + "}^{" + piece(s[i]).text + "}";
      return {text, power};
    }
    case Form::call: return call(s);
    case Form::argument: return {words(s.text + "=") + piece(s[0]).text};
    case Form::masked: return {piece(s[0]).text + words(" where ") + piece(s[1]).text, statement};
    case Form::head: return head(s);
    case Form::set: return {"\\{" + list(s) + "\\}"};
    case Form::tuple: return {in_parentheses(list(s))};
    case Form::array: return {"\\left[" + list(s) + "\\right]"};
    case Form::postfix: return postfix(s);
    case Form::slice: {
      std::string text;
      for (std::size_t i = 0; i < s.size(); ++i) text += (i ? ":" : "") + piece(s[i]).text;
      return {text};
    }
    case Form::ellipsis: return {"\\ldots"};
    case Form::in_block: {
      const std::string options = indexed("", s[1], 0);
      return {"\\left[" + block(s[2]) + "\\right]_{" + piece(s[0]).text + (options.empty() ? "" : ",\\," + options.substr(2, options.size() - 3)) + "}"};
    }
    case Form::choose: return {words("one ") + latex_name(s.text) + " \\in " + piece(s[0]).text + ":\\; " + block(s[1]), statement};
    case Form::fold: return fold(s);
    case Form::range: return {s.size() == 2 ? piece(s[0]).text + " \\ldots " + piece(s[1]).text : list(s)};
    default: return {""};
  }
}

}  // namespace

std::string latex_name(const std::string& name) {
  static const std::set<std::string> greek = {"alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"};
  if (find_format(name)) return upright(name);
  std::size_t digits = name.size();
  while (digits > 1 && std::isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
  const std::string word = name.substr(0, digits), index = name.substr(digits);
  const std::string text = greek.contains(word) ? "\\" + word : word.size() == 1 && word != "_" ? word : "\\mathit{" + escaped(word) + "}";
  return index.empty() ? text : text + "_{" + index + "}";
}

std::string latex(const Syntax& expression) { return piece(expression).text; }

}  // namespace erx
