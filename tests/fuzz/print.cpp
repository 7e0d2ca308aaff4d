// libFuzzer: what parses is printed, and the print is the same program: formatted text keeps its meaning and is stable, and the
// canonical text of a spec is the canonical text of what it parses to.
#include <cstdint>
#include <cstdio>
#include <string>

#include "grammar/program.hpp"

namespace {

std::shared_ptr<const erx::Program> parsed(const std::string& text) {
  try {
    return erx::parse(text);
  } catch (const erx::Error&) {
    return nullptr;
  }
}

[[noreturn]] void differ(const char* what, const std::string& a, const std::string& b) {
  std::fprintf(stderr, "%s\n--- one\n%s\n--- other\n%s\n", what, a.c_str(), b.c_str());
  __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto program = parsed(text);
  if (!program) return 0;
  const std::string laid_out = erx::format_source({"text", text}), again = erx::format_source({"text", laid_out});
  if (laid_out != again) differ("formatting is not stable", laid_out, again);
  const auto same = parsed(laid_out);
  if (!same) differ("formatted text does not parse", text, laid_out);
  if (same->specs.size() != program->specs.size()) differ("formatting changes the specs", text, laid_out);
  for (std::size_t i = 0; i < program->specs.size(); ++i) {
    const std::string canonical = program->specs[i].canonical_text();
    if (same->specs[i].canonical_text() != canonical && program->specs[i].checked_graph())
      differ("formatting changes the meaning", canonical, same->specs[i].canonical_text());
    if (!program->specs[i].checked_graph()) continue;  // text that needs the types of a call is kept as it is
    const auto reparsed = parsed(canonical);
    if (!reparsed || reparsed->specs.size() != 1) differ("canonical text does not parse", text, canonical);
    if (const std::string twice = reparsed->specs[0].canonical_text(); twice != canonical) differ("canonical text is not canonical", canonical, twice);
  }
  return 0;
}
