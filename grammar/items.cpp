#include "grammar/items.hpp"

namespace erx {
namespace {

Span word_of(const Ast& ast, const Syntax& item) {
  const auto begin = static_cast<std::uint32_t>(ast.source->text.find(item.text, item.begin + 2));
  return {ast.source, begin, begin + static_cast<std::uint32_t>(item.text.size())};
}

}  // namespace

std::unique_ptr<const Items> collect_items(const Ast& ast, std::vector<Diagnostic>& errors) {
  auto items = std::make_unique<Items>();
  items->ast = &ast;
  std::map<std::string, Items::Item> all;
  auto add = [&](std::map<std::string, Items::Item>& table, const std::string& name, const Items::Item& item, const Span& at) {
    auto [before, fresh] = all.emplace(name, item);
    if (fresh) {
      table.emplace(name, item);
    } else if (before->second.syntax != item.syntax) {
      errors.push_back(Diagnostic{at, "`" + name + "` is defined twice", ""}.note(
          word_of(*before->second.home->ast, *before->second.syntax), "first defined here"));
    }
  };
  std::size_t next_import = 0;
  for (const Syntax& item : ast.items) {
    if (item.is(Form::import_item) && next_import < ast.imports.size()) {
      const auto& file = ast.imports[next_import++];
      if (!file) continue;           // could not be read, which has been reported
      std::vector<Diagnostic> told;  // by the imported file itself
      items->imported.push_back(collect_items(*file, told));
      for (const auto& [name, f] : items->imported.back()->functions) add(items->functions, name, f, ast.span(item));
      for (const auto& [name, f] : items->imported.back()->formats) add(items->formats, name, f, ast.span(item));
    }
    if (item.is(Form::fn)) add(items->functions, item.text, {&item, items.get()}, word_of(ast, item));
    if (item.is(Form::spec)) add(items->specs, item.text, {&item, items.get()}, word_of(ast, item));
    if (item.is(Form::format_item)) add(items->formats, item.text, {&item, items.get()}, word_of(ast, item));
  }
  return items;
}

}  // namespace erx
