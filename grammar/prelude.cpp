#include "grammar/prelude.hpp"

#include "grammar/files.hpp"
#include "ops/prelude.hpp"

namespace erx {
namespace {

struct Prelude {
  std::shared_ptr<const Source> source = std::make_shared<const Source>(Source{"the standard functions", std::string(prelude_text())});
  std::shared_ptr<const Ast> ast;
  std::unique_ptr<const Items> items;
  Prelude() {
    std::vector<Diagnostic> errors;
    ast = parse_files(source, errors);
    items = collect_items(*ast, errors);
    if (!errors.empty()) throw Bug("the standard functions do not parse: " + errors[0].what);
  }
};

const Prelude& parsed() {
  static const Prelude one;
  return one;
}

}  // namespace

const Items& prelude() { return *parsed().items; }

bool is_prelude(const Span& span) { return span.source == parsed().source; }

std::vector<PreludeFunction> prelude_functions() {
  std::vector<PreludeFunction> all;
  const std::string& text = parsed().source->text;
  for (const Syntax& item : parsed().ast->items) {
    // The comment on the line before says what it is: `# call: meaning`.
    const std::size_t end = text.rfind('\n', item.begin - 1), begin = text.rfind('\n', end - 1) + 1, colon = text.find(": ", begin);
    if (text.compare(begin, 2, "# ") != 0 || colon > end) throw Bug("a standard function without its line of documentation: " + item.text);
    all.push_back({text.substr(begin + 2, colon - begin - 2), text.substr(colon + 2, end - colon - 2)});
  }
  return all;
}

}  // namespace erx
