// Source files: reading them, and the files that they import.
//   auto ast = parse_files(source, errors);   // ast->imports holds the syntax of every imported file
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "grammar/ast.hpp"
#include "ir/error.hpp"

namespace erx {

/// errors: Error for a missing, unreadable or too large file, or one that is not text.
std::shared_ptr<const Source> read_source(const std::string& path);
void check_source(const Source&);

/// The syntax of `source` and of what it imports; a path is relative to the file that names it. Mistakes are told where they are.
std::shared_ptr<const Ast> parse_files(const std::shared_ptr<const Source>& source, std::vector<Diagnostic>& errors);

}  // namespace erx
