#include "grammar/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "grammar/parser.hpp"

namespace erx {
namespace {

constexpr std::size_t max_bytes = 4u << 20;
constexpr std::size_t max_files = 100;

/// One file at a time; a file that is imported twice is parsed once.
class Files {
 public:
  explicit Files(std::vector<Diagnostic>& errors) : errors_(errors) {}

  std::shared_ptr<const Ast> parse(const std::shared_ptr<const Source>& source, const std::filesystem::path& path) {
    auto ast = std::make_shared<Ast>(*parse_syntax(source, errors_));
    open_.push_back(path);
    for (const Syntax& item : ast->items) {
      if (item.is(Form::import_item)) ast->imports.push_back(import(*ast, item, path.parent_path()));
    }
    open_.pop_back();
    return ast;
  }

 private:
  std::shared_ptr<const Ast> import(const Ast& ast, const Syntax& item, const std::filesystem::path& folder) {
    const std::filesystem::path path = (folder / item.text).lexically_normal();
    if (std::find(open_.begin(), open_.end(), path) != open_.end()) {
      errors_.push_back({ast.span(item), "`" + item.text + "` imports itself", "a circle of imports"});
      return nullptr;
    }
    auto known = done_.find(path);
    if (known != done_.end()) return known->second;
    if (done_.size() + open_.size() > max_files) {  // the first is no import
      errors_.push_back({ast.span(item), "more than " + std::to_string(max_files) + " files are imported", ""});
      return nullptr;
    }
    try {
      auto source = read_source(path.string());
      return done_[path] = parse(source, path);
    } catch (const Error& e) {
      for (Diagnostic d : e.diagnostics) {
        if (!d.span) d.span = ast.span(item);
        errors_.push_back(std::move(d));
      }
      return done_[path] = nullptr;
    }
  }

  std::vector<Diagnostic>& errors_;
  std::vector<std::filesystem::path> open_;
  std::map<std::filesystem::path, std::shared_ptr<const Ast>> done_;
};

}  // namespace

void check_source(const Source& source) {
  if (source.text.size() > max_bytes) {
    throw Error("`" + source.name + "` has " + std::to_string(source.text.size()) + " bytes; a spec has at most " +
                std::to_string(max_bytes));
  }
  const auto zero = source.text.find('\0');
  if (zero == source.text.npos) return;
  const auto at = static_cast<std::uint32_t>(zero);
  throw Error(Diagnostic{{std::make_shared<const Source>(source), at, at + 1}, "this is not text: it holds a zero byte", ""});
}

std::shared_ptr<const Source> read_source(const std::string& path) {
  errno = 0;
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file && !std::filesystem::is_directory(path, ignored) ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) throw Error("cannot read `" + path + "`: " + (file || errno == 0 ? "it is not a file" : std::strerror(errno)));
  auto source = std::make_shared<Source>();
  source->name = path;
  if (static_cast<std::size_t>(size) <= max_bytes) {
    source->text.resize(static_cast<std::size_t>(size));
    file.seekg(0);
    if (size > 0 && !file.read(source->text.data(), size)) throw Error("cannot read `" + path + "`");
  } else {
    throw Error("`" + path + "` has " + std::to_string(size) + " bytes; a spec has at most " + std::to_string(max_bytes));
  }
  check_source(*source);
  return source;
}

std::shared_ptr<const Ast> parse_files(const std::shared_ptr<const Source>& source, std::vector<Diagnostic>& errors) {
  return Files(errors).parse(source, std::filesystem::path(source->name).lexically_normal());
}

}  // namespace erx
