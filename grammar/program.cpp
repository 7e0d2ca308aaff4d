#include "grammar/program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "grammar/examples.hpp"
#include "grammar/lower.hpp"
#include "grammar/parser.hpp"
#include "ir/print.hpp"

namespace erx {
namespace {

constexpr std::size_t max_bytes = 4u << 20;

Error too_large(const std::string& name, std::size_t bytes) {
  return Error("`" + name + "` has " + std::to_string(bytes) + " bytes; a spec has at most " + std::to_string(max_bytes));
}

/// Invalid text is refused before anything looks at it: a place in it could not be shown.
void check_text(const std::shared_ptr<const Source>& source, std::vector<Diagnostic>& errors) {
  const std::string& t = source->text;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const auto c = static_cast<unsigned char>(t[i]);
    if (c != 0) continue;
    const auto at = static_cast<std::uint32_t>(i);
    errors.push_back({{source, at, at + 1}, "this is not text: it holds a zero byte", ""});
    return;
  }
}

void add_spec(Program& program, const std::shared_ptr<const Ast>& ast, const Items& items, std::size_t index,
              std::vector<Diagnostic>& errors) {
  const Syntax& item = ast->items[index];
  const bool bare = item.is(Form::block);
  Lowering lowering(*ast, items, errors, program.warnings);
  if (bare)
    lowering.bare(item, nullptr);
  else
    lowering.spec(item, nullptr);
  Spec spec;
  spec.name = item.text;
  spec.span = ast->span(item);
  spec.parameters = std::move(lowering.parameters);
  spec.results = std::move(lowering.results);
  spec.ast = ast;
  spec.item = index;
  program.specs.push_back(std::move(spec));
}

}  // namespace

std::shared_ptr<const Program> parse(std::shared_ptr<const Source> source) {
  if (source->text.size() > max_bytes) throw too_large(source->name, source->text.size());
  auto program = std::make_shared<Program>();
  program->source = source;
  std::vector<Diagnostic> errors;
  check_text(source, errors);
  if (!errors.empty()) throw Error(std::move(errors));
  const auto ast = parse_syntax(source, errors);
  const Items items = collect_items(*ast, errors);
  for (std::size_t i = 0; i < ast->items.size(); ++i) {
    const Syntax& item = ast->items[i];
    if (item.is(Form::block) || item.is(Form::spec)) add_spec(*program, ast, items, i, errors);
    if (item.is(Form::fn) || item.is(Form::format_item)) {
      Lowering lowering(*ast, items, errors, program->warnings);
      lowering.check(item);
    }
    if (item.is(Form::import_item)) errors.push_back({ast->span(item), "`import` is not part of this version of the language", ""});
  }
  for (const Syntax& item : ast->items) {
    if (item.is(Form::example)) program->examples.push_back(read_example(*ast, item, program->specs, errors));
  }
  if (errors.empty() && program->specs.empty() && items.functions.empty() && items.formats.empty()) {
    errors.push_back({{source, 0, 0}, "there is no spec and no expression here", ""});
  }
  std::stable_sort(errors.begin(), errors.end(), [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
  if (!errors.empty()) throw Error(std::move(errors));
  return program;
}

std::shared_ptr<const Program> parse(std::string text, std::string name) {
  return parse(std::make_shared<const Source>(Source{std::move(name), std::move(text)}));
}

std::shared_ptr<const Program> load(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) {
    throw Error("cannot read `" + path + "`: " + (errno ? std::strerror(errno) : "it is not a file"));
  }
  if (static_cast<std::size_t>(size) > max_bytes) throw too_large(path, static_cast<std::size_t>(size));
  std::string text(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(text.data(), size) && size > 0) throw Error("cannot read `" + path + "`");
  return parse(std::move(text), path);
}

const Spec& Program::spec(std::string_view name) const {
  if (name.empty() && specs.size() == 1) return specs.front();
  std::string list;
  std::vector<std::string> names;
  for (const Spec& s : specs) {
    if (s.name == name && !name.empty()) return s;
    names.push_back(s.name);
    list += (list.empty() ? "" : ", ") + s.name;
  }
  if (specs.empty()) throw Error("`" + source->name + "` has no spec");
  if (name.empty()) throw Error("`" + source->name + "` has several specs, say which: " + list);
  if (specs.size() == 1 && specs[0].name.empty())
    throw Error("`" + source->name + "` is one expression; it has no spec `" + std::string(name) + "`");
  Diagnostic d{{}, "`" + source->name + "` has no spec `" + std::string(name) + "`; it has " + list, ""};
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) std::move(d).note({}, "did you mean `" + near + "`?");
  throw Error(std::move(d));
}

std::shared_ptr<const Graph> Spec::lower(const std::map<std::string, Binding>& inputs) const {
  std::vector<Diagnostic> errors, warnings;
  const Items items = collect_items(*ast, errors);
  Lowering lowering(*ast, items, errors, warnings);
  const Syntax& syntax = ast->items[item];
  if (syntax.is(Form::block))
    lowering.bare(syntax, &inputs);
  else
    lowering.spec(syntax, &inputs);
  if (!errors.empty()) throw Error(std::move(errors));
  if (!lowering.is_complete) throw Bug("a spec without mistakes was not lowered whole");
  return std::make_shared<const Graph>(std::move(lowering.graph));
}

std::shared_ptr<const Graph> Spec::checked_graph() const {
  std::vector<Diagnostic> errors, warnings;
  const Items items = collect_items(*ast, errors);
  const Syntax& syntax = ast->items[item];
  if (!syntax.is(Form::spec)) return nullptr;
  Lowering lowering(*ast, items, errors, warnings);
  lowering.keep_defaults = true;
  lowering.spec(syntax, nullptr);
  return lowering.is_complete && errors.empty() ? std::make_shared<const Graph>(std::move(lowering.graph)) : nullptr;
}

std::string Spec::canonical_text() const {
  if (const auto graph = checked_graph()) return to_erx(*graph);
  return format_source(Source{ast->source->name, std::string(span.text()) + "\n"});
}

}  // namespace erx
