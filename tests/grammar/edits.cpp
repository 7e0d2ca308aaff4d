// Ten thousand random edits of the example files: each parses, or is refused with a place; nothing crashes, nothing is a Bug.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "grammar/scan.hpp"
#include "helpers.hpp"

using namespace erx;
using namespace erx::test;

namespace {

std::vector<std::string> texts_of(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ERX_SOURCE_DIR) / folder)) {
    if (entry.path().extension() == ".erx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

const char* const spare_tokens[] = {
    "(",      ")",       "[",       "]",        "{",      "}",        "<",      ">",        ",",      ":",       "=",   "==",   "->",
    "...",    "..",      ".",       "+",        "-",      "*",        "**",     "@",        "let",    "return",  "in",  "spec", "fn",
    "format", "example", "covers",  "round",    "acc",    "within",   "any_of", "approx",   "float",  "complex", "f32", "bf16", "x",
    "N",      "0",       "3.5",     "1e9",      "nan",    "None",     "true",   "\"text\"", "\"",     "#",       ";",   "\n",   "where",
    "axis=0", "sum",     "reshape", "contract", "{1, 2}", "\xc3\xa9", "0x1p3",  "assume",   "import", "T"};

/// A token removed, doubled, replaced, or overwritten by another, once or three times.
std::string edited(const std::string& text, std::mt19937& random) {
  std::string out = text;
  const int edits = random() % 3 == 0 ? 3 : 1;
  for (int i = 0; i < edits; ++i) {
    const auto tokens = tokens_of(out);
    if (tokens.empty()) return out;
    const Token t = tokens[random() % tokens.size()];
    const std::string word = out.substr(t.begin, t.end - t.begin);
    const std::string spare = spare_tokens[random() % std::size(spare_tokens)];
    switch (random() % 5) {
      case 0: out.erase(t.begin, t.end - t.begin); break;
      case 1: out.insert(t.begin, word + " "); break;
      case 2: out.replace(t.begin, t.end - t.begin, spare); break;
      case 3: out.insert(t.begin, spare + " "); break;
      default: {
        const Token u = tokens[random() % tokens.size()];
        out.replace(t.begin, t.end - t.begin, out.substr(u.begin, u.end - u.begin));
      }
    }
  }
  return out;
}

/// Binds every input of a spec to a small tensor of its type and lowers it: a call may be refused, never break.
void call(const Spec& spec) {
  std::map<std::string, Binding> inputs;
  for (const Parameter& p : spec.parameters) {
    Binding b;
    b.type = p.type.value_or(*find_type("f32"));
    const std::size_t rank = p.shape ? p.shape->size() : 1;
    b.extents.assign(rank, 2);
    if (p.shape) {
      for (std::size_t i = 0; i < rank; ++i) {
        if ((*p.shape)[i].is_number()) b.extents[i] = (*p.shape)[i].value();
      }
    }
    inputs[p.name] = b;
  }
  spec.lower(inputs);
}

}  // namespace

TEST_CASE("edits: ten thousand random edits never crash") {
  const std::vector<std::string> right = texts_of("examples"), wrong = texts_of("tests/golden");
  CHECK(wrong.size() > 20);
  std::mt19937 random(20240229);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto& texts = random() % 3 == 0 ? wrong : right;
    const std::string text = edited(texts[random() % texts.size()], random);
    INFO("seed 20240229, edit " << i << ":\n" << text);
    try {
      const auto program = parse(text);
      ++accepted;
      for (const Spec& spec : program->specs) {
        try {
          call(spec);
        } catch (const Error&) {
        }
        spec.canonical_text();
      }
      const std::string laid = format_source(*program->source);
      if (format_source({"x", laid}) != laid) FAIL(laid);
      parse(laid);
    } catch (const Error& e) {
      ++refused;
      bool placed = true;
      for (const auto& d : e.diagnostics) placed = placed && d.span && !d.what.empty();
      if (!placed) FAIL(render(e.diagnostics));
      render(e.diagnostics);
    } catch (const std::exception& e) {
      FAIL(e.what());
    }
  }
  CHECK(accepted > 200);
  CHECK(refused > 2000);
}
