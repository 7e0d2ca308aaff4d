// erx doc: a spec as Markdown, for readers who do not know the language.
#include <iostream>
#include <map>

#include "bindings/arguments.hpp"
#include "bindings/commands.hpp"
#include "bindings/examples.hpp"
#include "bindings/latex.hpp"
#include "bindings/roundings.hpp"
#include "bindings/session.hpp"
#include "grammar/ast.hpp"
#include "ir/error.hpp"

namespace erx {
namespace {

/// The comment that stands directly above the item.
std::string comment_above(const Source& source, std::uint32_t begin) {
  std::string text;
  std::size_t line_end = begin;
  while (line_end > 0) {
    const std::size_t before = source.text.rfind('\n', line_end - 1);
    if (before == std::string::npos) break;
    const std::size_t start = before == 0 ? 0 : source.text.rfind('\n', before - 1) + 1;
    const std::string line = source.text.substr(start, before - start);
    const std::size_t mark = line.find_first_not_of(" \t");
    if (mark == std::string::npos || line[mark] != '#') break;
    const std::size_t word = line.find_first_not_of("# \t", mark);
    text = (word == std::string::npos ? "" : line.substr(word)) + "\n" + text;
    line_end = start;
  }
  return text;
}

std::string cell(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '|') text.insert(i++, "\\");
  return text;
}

std::string formula(const Syntax& item) {
  const Syntax& body = item.is(Form::spec) ? item[3] : item;
  std::string lines;
  const auto equation = [&](const std::string& left, const std::string& right) { lines += (lines.empty() ? "" : " \\\\\n") + left + " &= " + right; };
  for (const Syntax& s : body.children) {
    if (s.is(Form::assume)) lines += (lines.empty() ? "" : " \\\\\n") + ("& \\text{for } " + latex(s[0]));
    if (s.is(Form::let) && s[0].is(Form::names)) {
      std::string names;
      for (const Syntax& n : s[0].children) names += (names.empty() ? "" : ", ") + latex_name(n.text);
      equation("(" + names + ")", latex(s[1]));
    } else if (s.is(Form::let)) {
      equation(latex_name(s.text), latex(s[0]));
    }
    if (!s.is(Form::give)) continue;
    const bool several = item.is(Form::spec) && item[2].size() > 1 && s[0].is(Form::tuple) && s[0].size() == item[2].size();
    if (!several) equation("\\text{result}", latex(s[0]));
    if (several)
      for (std::size_t i = 0; i < s[0].size(); ++i) equation(latex_name(item[2][i].text), latex(s[0][i]));
  }
  return "$$\n\\begin{aligned}\n" + lines + "\n\\end{aligned}\n$$\n";
}

std::string signature(const Ast& ast, const Syntax& item) {
  const auto text = [&](const Syntax& s) { return std::string(ast.span(s).text()); };
  std::string out = "| | name | type | default |\n|---|---|---|---|\n";
  for (const Syntax& p : item[1].children)
    out += "| in | `" + p.text + "` | `" + cell(text(p[0])) + "` | " + (p[1].is(Form::nothing) ? "" : "`" + cell(text(p[1])) + "`") + " |\n";
  for (const Syntax& r : item[2].children) out += "| out | " + (r.text.empty() ? "" : "`" + r.text + "`") + " | `" + cell(text(r[0])) + "` | |\n";
  return out;
}

std::string rounding_table(const Ast& ast, const Syntax& item) {
  const auto all = roundings(ast, item);
  if (all.empty()) return "Nothing rounds and nothing is left open.\n";
  std::string out = "| line | written | means |\n|---|---|---|\n";
  for (const RoundingInWords& r : all) {
    const std::string place = r.file == ast.source->name ? std::to_string(r.line) : r.file + ":" + std::to_string(r.line);
    out += "| " + place + " | `" + cell(r.written) + "` | " + cell(r.what) + " |\n";
  }
  return out;
}

std::string examples_of(const Program& program, const Spec& spec, const DocArguments& arguments) {
  std::map<std::uint32_t, std::string> results;  // by where the claim begins
  if (arguments.examples) {
    Session session(arguments.evaluation);
    run_examples(program, session.options(), [&](const ExampleOutcome& o) {
      results[o.span.begin] = o.wrong ? "error" : o.passed ? o.note.empty() ? "holds" : o.note : "FAILS";
    });
  }
  std::string out;
  for (const Example& example : program.examples) {
    if (example.spec != spec.name && !(example.spec.empty() && program.specs.size() == 1)) continue;
    out += "**" + example.text + "**\n\n```\n";
    for (const ExampleLine& line : example.lines)
      if (line.kind == ExampleLine::Kind::input) out += std::string(line.span.text()) + "\n";
    out += "```\n\n| claim | result |\n|---|---|\n";
    std::string together;  // lines that are one output have one result
    for (const ExampleLine& line : example.lines) {
      if (line.kind == ExampleLine::Kind::input) continue;
      std::string text = std::string(line.span.text());
      for (char& c : text) c = c == '\n' ? ' ' : c;
      if (const auto found = results.find(line.span.begin); found != results.end()) together = found->second;
      out += "| `" + cell(text) + "` | " + together + " |\n";
    }
    out += "\n";
  }
  return out;
}

}  // namespace

int doc_command(const DocArguments& arguments) {
  const bool is_named = arguments.spec.rfind(".erx:") != std::string::npos || arguments.spec.rfind(standard_input + std::string(":")) == 0;
  const LoadedSpec loaded = is_named ? load_spec(arguments.spec) : LoadedSpec{load_program(arguments.spec), ""};
  if (loaded.program->specs.empty()) throw Error("`" + arguments.spec + "` has no spec");
  const bool one = !loaded.name.empty() || loaded.program->specs.size() == 1;
  for (const Spec& spec : loaded.program->specs) {
    if (!loaded.name.empty() && spec.name != loaded.name) continue;
    const Ast& ast = *spec.ast;
    const Syntax& item = ast.items[spec.item];
    const bool is_spec = item.is(Form::spec);
    if (!one && &spec != &loaded.program->specs.front()) std::cout << "\n";
    std::cout << "# " << (is_spec ? spec.name : ast.source->name) << "\n\n";
    if (is_spec) {
      const std::string comment = comment_above(*ast.source, item.begin);
      if (!comment.empty()) std::cout << comment << "\n";
      std::cout << signature(ast, item) << "\n";
    }
    std::cout << "## Formula\n\n" << formula(item) << "\n## What rounds, and what is left open\n\n" << rounding_table(ast, item);
    const std::string examples = examples_of(*loaded.program, spec, arguments);
    if (!examples.empty()) std::cout << "\n## Examples\n\n" << examples.substr(0, examples.size() - 1);
  }
  return covered;
}

}  // namespace erx
