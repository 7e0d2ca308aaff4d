// Diagnostics: tests/golden/NAME.erx has to give exactly NAME.txt, and each suggested fix has to be right.
// A first line "# call: x=f32[2]; y=real" lowers the (only) spec for these inputs. ERX_WRITE_GOLDEN=1 writes the .txt files anew.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "helpers.hpp"

using namespace erx;
using namespace erx::test;
namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(ERX_SOURCE_DIR) / "tests/golden")) {
    if (entry.path().extension() == ".erx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> call_of(const std::string& text) {
  std::vector<std::string> inputs;
  if (text.rfind("# call: ", 0) != 0) return inputs;
  std::stringstream line(text.substr(8, text.find('\n') - 8));
  for (std::string one; std::getline(line, one, ';');) inputs.push_back(one.substr(one.find_first_not_of(' ')));
  return inputs;
}

/// Paths of imports are relative to the file that names them: the tests stand in its folder.
struct InFolder {
  fs::path before = fs::current_path();
  InFolder() { fs::current_path(fs::path(ERX_SOURCE_DIR) / "tests/golden"); }
  ~InFolder() { fs::current_path(before); }
};

std::vector<Diagnostic> diagnose(const std::string& text, const std::string& name) {
  const InFolder here;
  try {
    auto program = parse(text, name);
    const auto inputs = call_of(text);
    if (!inputs.empty()) program->spec().lower(bindings(inputs));
    return {};
  } catch (const Error& e) {
    return e.diagnostics;
  }
}

}  // namespace

TEST_CASE("diagnostics: golden files") {
  const bool write = std::getenv("ERX_WRITE_GOLDEN") != nullptr;
  for (const fs::path& path : golden_files()) {
    INFO(path.filename().string());
    const std::string text = read(path);
    const std::string got = render(diagnose(text, path.filename().string()));
    fs::path expected = path;
    expected.replace_extension(".txt");
    if (write) std::ofstream(expected, std::ios::binary) << got;
    CHECK(got == read(expected));
    CHECK(got != "");
  }
}

TEST_CASE("diagnostics: every suggested fix removes its mistake and brings no new one") {
  int fixes = 0;
  for (const fs::path& path : golden_files()) {
    const std::string text = read(path);
    const auto before = diagnose(text, "x.erx");
    for (const Diagnostic& d : before) {
      if (!d.fix) continue;
      ++fixes;
      INFO(path.filename().string());
      const std::string fixed = apply_fix(*d.fix);
      INFO(fixed);
      const auto after = diagnose(fixed, "x.erx");
      INFO(render(after));
      CHECK(after.size() < before.size());
    }
  }
  CHECK(fixes >= 25);
}

TEST_CASE("diagnostics: nothing internal shows") {
  for (const fs::path& path : golden_files()) {
    const std::string text = render(diagnose(read(path), "x.erx"));
    for (const char* word : {"boost", "spirit", "erx::", "std::", "_def", "unused", "Id>", "nullptr", "struct "}) {
      INFO(path.filename().string());
      CHECK(text.find(word) == text.npos);
    }
  }
}
