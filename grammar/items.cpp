#include "grammar/items.hpp"

namespace erx {

Items collect_items(const Ast& ast, std::vector<Diagnostic>& errors) {
  Items items;
  std::map<std::string, const Syntax*> all;
  for (const Syntax& item : ast.items) {
    if (!item.is(Form::fn) && !item.is(Form::spec) && !item.is(Form::format_item)) continue;
    auto [before, fresh] = all.emplace(item.text, &item);
    if (!fresh) {
      const auto begin = static_cast<std::uint32_t>(ast.source->text.find(item.text, item.begin + 2));
      errors.push_back(
          Diagnostic{{ast.source, begin, begin + static_cast<std::uint32_t>(item.text.size())}, "`" + item.text + "` is defined twice", ""}
              .note({ast.source, before->second->begin, before->second->begin}, "first defined here"));
      continue;
    }
    (item.is(Form::fn) ? items.functions : item.is(Form::spec) ? items.specs : items.formats)[item.text] = &item;
  }
  return items;
}

}  // namespace erx
