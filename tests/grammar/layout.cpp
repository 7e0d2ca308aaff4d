// Canonical layout: idempotent, keeps comments and meaning.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "grammar/scan.hpp"
#include "helpers.hpp"

using namespace erx;
using namespace erx::test;

namespace {

std::string layout(const std::string& text) { return format_source({"x", text}); }

/// Everything but blanks.
std::string words(const std::string& text) {
  std::string out;
  for (const Token& t : tokens_of(text)) {
    if (t.kind == TokenKind::newline) continue;
    std::string word = text.substr(t.begin, t.end - t.begin);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\r')) word.pop_back();
    out += word + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("layout: spaces are put where they belong") {
  CHECK(layout("round <bf16>( alpha*A )@B+C") == "round<bf16>(alpha * A) @ B + C\n");
  CHECK(layout("a**-2+ -b") == "a**-2 + -b\n");
  CHECK(layout("sum(x,axis = 0 ,keepdims=true)") == "sum(x, axis=0, keepdims=true)\n");
  CHECK(layout("x[ 1 : 3,:,None , ::-1 ] . T") == "x[1:3, :, None, ::-1].T\n");
  CHECK(layout("acc<f32,split({1,2},store=bf16) , fma = never>(sum(x))") == "acc<f32, split({1, 2}, store=bf16), fma=never>(sum(x))\n");
  CHECK(layout("in f32,contract,ulp = 2{let t=a*b;t}") == "in f32, contract, ulp=2 { let t = a * b; t }\n");
  CHECK(layout("where(a<b,c>(d),-e)") == "where(a < b, c > (d), -e)\n");
  CHECK(layout("round<float<e=8,m=10>>(x)") == "round<float<e=8, m=10>>(x)\n");
  CHECK(layout("any_of<\"a  b\">(x,y)#why   ") == "any_of<\"a  b\">(x, y)  #why\n");
  CHECK(layout("not a==b and(c or d)") == "not a == b and (c or d)\n");
}

TEST_CASE("layout: a spec") {
  const std::string text =
      "spec f< T:format ,A:format=f32 >(x:T[...S,N/2] , alpha:real=1) ->(a:T[N],b:f32){\n"
      "# first\n\n\n\n"
      "let (y,z)=(x,\n"
      "alpha)   # aligned\n"
      "      return y*\n"
      "z\n"
      "}\n\n"
      "example \"x\"{\nx=[[1,-2],\n[3/10,-inf]]\ncovers a=[1]\n}";
  const std::string expected =
      "spec f<T: format, A: format = f32>(x: T[...S, N / 2], alpha: real = 1) -> (a: T[N], b: f32) {\n"
      "  # first\n"
      "\n"
      "  let (y, z) = (x,\n"
      "    alpha)   # aligned\n"
      "  return y *\n"
      "    z\n"
      "}\n"
      "\n"
      "example \"x\" {\n"
      "  x = [[1, -2],\n"
      "    [3 / 10, -inf]]\n"
      "  covers a = [1]\n"
      "}\n";
  CHECK(layout(text) == expected);
  CHECK(layout(expected) == expected);
}

TEST_CASE("layout: what is laid out already stays") {
  for (const std::string& text : std::vector<std::string>{
           "spec f(A: f32[N],\n       B: f32[N]) -> f32[N] {\n  let a = A\n  return where(a == 0,\n    a,\n    in f32 {\n      a * B\n    "
           "})\n}\n",
           "example \"x\" {\n  x = [[1],\n       [2]]\n  covers  [1]\n  rejects [2]\n}\n",
       }) {
    CHECK(layout(text) == text);
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ERX_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() != ".erx") continue;
    std::ifstream file(entry.path());
    std::stringstream all;
    all << file.rdbuf();
    INFO(entry.path().filename().string());
    CHECK(layout(all.str()) == all.str());
    ++files;
  }
  CHECK(files >= 3);
}

TEST_CASE("layout: idempotent and the same tokens, on all files and all pieces of them") {
  int files = 0;
  for (const char* folder : {"examples", "tests/golden"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ERX_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".erx") continue;
      std::ifstream file(entry.path());
      std::stringstream all;
      all << file.rdbuf();
      const std::string text = all.str();
      for (std::size_t from = 0; from < text.size(); from += 97) {
        const std::string piece = text.substr(from);
        const std::string laid = layout(piece);
        INFO(piece);
        CHECK(words(laid) == words(piece));
        CHECK(layout(laid) == laid);
      }
      ++files;
    }
  }
  CHECK(files > 20);
}
