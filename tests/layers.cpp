// The walls of the house: an include may go only along the layers, a library only into its home (docs: the layers in README.md).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {
using Names = std::set<std::string>;

// What `text` of the file `path` includes without leave, one line each.
std::vector<std::string> wrong_includes(const std::string& path, const std::string& text) {
  static const std::map<std::string, Names> edges = {{"ir", {"ir"}}, {"ops", {"ir", "ops"}}, {"grammar", {"ir", "ops", "grammar"}},
      {"eval", {"ir", "ops", "eval"}}, {"bindings", {"ir", "ops", "grammar", "eval", "bindings"}}};
  // First part of the include, and the only files or folders that may have it.
  static const std::vector<std::pair<std::regex, Names>> homes = {{std::regex("mpfr\\.h"), {"ops/num/big.cpp"}},
      {std::regex("gmp(xx)?\\.h"), {"ops/num/exact.cpp"}}, {std::regex("Eigen/.*|cblas\\.h|openblas.*"), {"ops/"}},
      {std::regex("boost/.*"), {"grammar/"}},
      {std::regex("(CLI|pybind11|nlohmann)/.*|zip\\.h"), {"bindings/"}}, {std::regex("cfenv|fenv\\.h|fpu_control\\.h"), {}}};
  static const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  const std::string layer = path.substr(0, path.find('/'));
  std::vector<std::string> wrong;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, include)) continue;
    const std::string target = found[1], first = target.substr(0, target.find('/'));
    if (edges.count(first) && !edges.at(layer).count(first)) wrong.push_back(path + " includes " + target);
    for (const auto& [library, home] : homes)
      if (std::regex_match(target, library) && std::none_of(home.begin(), home.end(), [&](const auto& h) { return path.starts_with(h); }))
        wrong.push_back(path + " includes " + target + " outside its home");
  }
  return wrong;
}
}  // namespace

TEST_CASE("layers: includes go one way and each library has one home") {
  namespace fs = std::filesystem;
  const fs::path top = ERX_SOURCE_DIR;
  int files = 0;
  std::map<std::string, Names> users;  // of Boost, MPFR, GMP: at most two, one, one files
  for (const char* layer : {"ir", "ops", "grammar", "eval", "bindings"})
    for (const auto& entry : fs::recursive_directory_iterator(top / layer)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string path = fs::relative(entry.path(), top).generic_string();
      for (const auto& wrong : wrong_includes(path, text.str())) FAIL_CHECK(wrong);
      if (text.str().find("#include <boost/") != std::string::npos) users["boost"].insert(path);
      if (text.str().find("#include <Eigen/") != std::string::npos) users["Eigen"].insert(path);
      ++files;
    }
  CHECK(files > 20);
  CHECK(users["boost"].size() <= 2);
  CHECK(users["Eigen"].size() <= 1);
}

TEST_CASE("layers: a planted wrong edge is found") {
  CHECK(wrong_includes("ir/a.cpp", "#include \"ops/op.hpp\"\n").size() == 1);
  CHECK(wrong_includes("eval/a.cpp", "#include \"grammar/ast.hpp\"\n").size() == 1);
  CHECK(wrong_includes("grammar/a.cpp", "#include \"eval/check.hpp\"\n").size() == 1);
  CHECK(wrong_includes("ops/a.cpp", "#include <mpfr.h>\n# include <gmp.h>\n").size() == 2);
  CHECK(wrong_includes("eval/a.cpp", "#include <boost/spirit/home/x3.hpp>\n#include <cfenv>\n").size() == 2);
  CHECK(wrong_includes("bindings/a.cpp", "#include \"eval/check.hpp\"\n#include <CLI/CLI.hpp>\n").empty());
  CHECK(wrong_includes("ops/num/big.cpp", "#include <mpfr.h>\n#include \"ir/error.hpp\"\n").empty());
}
