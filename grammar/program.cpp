#include "grammar/program.hpp"

#include <algorithm>
#include <set>

#include "grammar/examples.hpp"
#include "grammar/files.hpp"
#include "grammar/lower.hpp"
#include "ir/print.hpp"

namespace erx {
namespace {

/// The functions and formats of a file and of what it imports, whether anything uses them or not.
void check_items(const Items& items, std::set<const Ast*>& done, std::vector<Diagnostic>& errors, std::vector<Diagnostic>& warnings) {
  if (!done.insert(items.ast).second) return;
  for (const auto& file : items.imported) check_items(*file, done, errors, warnings);
  for (const Syntax& item : items.ast->items) {
    if (item.is(Form::fn) || item.is(Form::format_item)) Lowering(items, errors, warnings).check(item);
  }
}

void add_spec(Program& program, const std::shared_ptr<const Ast>& ast, const Items& items, std::size_t index,
              std::vector<Diagnostic>& errors) {
  const Syntax& item = ast->items[index];
  const bool bare = item.is(Form::block);
  Lowering lowering(items, errors, program.warnings);
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

/// The spec that returns this expression instead, or only this one result.
Syntax variant_of(const Syntax& spec, const Syntax& expression, const std::string& result) {
  Syntax variant = spec;
  for (Syntax& statement : variant.children[3].children)
    if (statement.is(Form::give)) statement.children[0] = expression;
  auto& results = variant.children[2].children;
  if (!result.empty()) std::erase_if(results, [&](const Syntax& r) { return r.text != result; });
  return variant;
}

/// Expressions of examples, with names for dimensions. Mistakes of the body have been told already.
void check_variants(const Program& program, const Ast& ast, const Items& items, std::vector<Diagnostic>& errors) {
  for (const Example& example : program.examples) {
    for (const ExampleLine& line : example.lines) {
      const auto spec = std::find_if(program.specs.begin(), program.specs.end(),
                                     [&](const Spec& s) { return s.name == example.spec || (example.spec.empty() && program.specs.size() == 1); });
      if (!line.expression || spec == program.specs.end()) continue;
      const std::string result = line.kind == ExampleLine::Kind::mutant ? "" : line.name;
      const Syntax variant = variant_of(ast.items[spec->item], *line.expression, result);
      std::vector<Diagnostic> warnings;
      if (variant[2].size() > 0) Lowering(items, errors, warnings).spec(variant, nullptr);
    }
  }
}

}  // namespace

std::shared_ptr<const Program> parse(std::shared_ptr<const Source> source) {
  check_source(*source);
  auto program = std::make_shared<Program>();
  program->source = source;
  std::vector<Diagnostic> errors;
  const auto ast = parse_files(source, errors);
  const auto items = collect_items(*ast, errors);
  std::set<const Ast*> done;
  check_items(*items, done, errors, program->warnings);
  for (std::size_t i = 0; i < ast->items.size(); ++i) {
    if (ast->items[i].is(Form::block) || ast->items[i].is(Form::spec)) add_spec(*program, ast, *items, i, errors);
  }
  const bool bodies_are_right = errors.empty();
  for (const Syntax& item : ast->items) {
    if (item.is(Form::example)) program->examples.push_back(read_example(*ast, item, program->specs, errors));
  }
  if (bodies_are_right) check_variants(*program, *ast, *items, errors);
  if (errors.empty() && program->specs.empty() && items->functions.empty() && items->formats.empty()) {
    Diagnostic& empty = errors.emplace_back();
    empty.span = {source, 0, 0};
    empty.what = "there is no spec and no expression here";
  }
  // In the order of the text, file by file.
  std::vector<const Source*> files;
  for (const Diagnostic& d : errors) {
    if (std::find(files.begin(), files.end(), d.span.source.get()) == files.end()) files.push_back(d.span.source.get());
  }
  auto place = [&](const Diagnostic& d) { return std::pair(std::find(files.begin(), files.end(), d.span.source.get()), d.span.begin); };
  std::stable_sort(errors.begin(), errors.end(), [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  if (!errors.empty()) throw Error(std::move(errors));
  return program;
}

std::shared_ptr<const Program> parse(std::string text, std::string name) {
  return parse(std::make_shared<const Source>(Source{std::move(name), std::move(text)}));
}

std::shared_ptr<const Program> load(const std::string& path) { return parse(read_source(path)); }

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
  const auto items = collect_items(*ast, errors);
  Lowering lowering(*items, errors, warnings);
  const Syntax& syntax = ast->items[item];
  if (syntax.is(Form::block))
    lowering.bare(syntax, &inputs);
  else
    lowering.spec(syntax, &inputs);
  if (!errors.empty()) throw Error(std::move(errors));
  if (!lowering.is_complete) throw Bug("a spec without mistakes was not lowered whole");
  return std::make_shared<const Graph>(std::move(lowering.graph));
}

std::shared_ptr<const Graph> Spec::lower_variant(const Syntax& expression, const std::string& result,
                                                 const std::map<std::string, Binding>& inputs) const {
  std::vector<Diagnostic> errors, warnings;
  const auto items = collect_items(*ast, errors);
  Lowering lowering(*items, errors, warnings);
  lowering.spec(variant_of(ast->items[item], expression, result), &inputs);
  if (!errors.empty()) throw Error(std::move(errors));
  if (!lowering.is_complete) throw Bug("an expression without mistakes was not lowered whole");
  return std::make_shared<const Graph>(std::move(lowering.graph));
}

std::shared_ptr<const Graph> Spec::checked_graph() const {
  std::vector<Diagnostic> errors, warnings;
  const auto items = collect_items(*ast, errors);
  const Syntax& syntax = ast->items[item];
  if (!syntax.is(Form::spec)) return nullptr;
  Lowering lowering(*items, errors, warnings);
  lowering.keep_defaults = true;
  lowering.spec(syntax, nullptr);
  return lowering.is_complete && errors.empty() ? std::make_shared<const Graph>(std::move(lowering.graph)) : nullptr;
}

std::string Spec::canonical_text() const {
  if (const auto graph = checked_graph()) return to_erx(*graph);
  return format_source(Source{ast->source->name, std::string(span.text()) + "\n"});
}

}  // namespace erx
