// erx fmt: canonical layout, in place; --check only says what would change.
#include <algorithm>
#include <iostream>
#include <iterator>

#include "bindings/commands.hpp"
#include "bindings/files.hpp"
#include "grammar/parser.hpp"
#include "grammar/program.hpp"

namespace erx {
namespace {

Source source_of(const std::string& path) {
  if (path == "-") return {"<stdin>", std::string{std::istreambuf_iterator<char>(std::cin), {}}};
  const Bytes bytes = read_file(path);
  return {path, std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())};
}

int format_file(const std::string& path, bool check) {
  const auto shared = std::make_shared<const Source>(source_of(path));
  const Source& source = *shared;
  std::vector<Diagnostic> errors;
  parse_syntax(shared, errors);
  if (!errors.empty()) throw Error(std::move(errors));
  const std::string text = format_source(source);
  if (check) {
    if (text == source.text) return covered;
    std::cout << source.name << " is not formatted\n";
    return violated;
  }
  if (path == "-") std::cout << text;
  else if (text != source.text) write_file(path, text);
  return covered;
}

}  // namespace

int fmt_command(const FmtArguments& arguments) {
  int status = covered;
  for (const auto& path : arguments.files) {
    try {
      status = std::max(status, format_file(path, arguments.check));
    } catch (const Error& error) {
      std::cerr << render(error.diagnostics);
      status = mistaken;
    }
  }
  return status;
}

}  // namespace erx
