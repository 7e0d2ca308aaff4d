// Diagnostics as text: places, carets, notes, fixes, suggestions.
#include <doctest/doctest.h>

#include "ir/error.hpp"

using namespace erx;

namespace {

std::shared_ptr<const Source> source_of(std::string text, std::string name = "gemm.erx") {
  return std::make_shared<const Source>(Source{std::move(name), std::move(text)});
}

Span place(const std::shared_ptr<const Source>& source, std::string_view word) {
  const auto at = source->text.find(word);
  REQUIRE(at != std::string::npos);
  return {source, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + word.size())};
}

}  // namespace

TEST_CASE("diagnostic: place, line, carets, note and help") {
  const auto s = source_of("let alpha = 1\nlet b = alhpa * A\n");
  const auto d = Diagnostic{place(s, "alhpa"), "unknown name 'alhpa'", "not defined here"}
                     .note(place(s, "alpha"), "'alpha' is defined here")
                     .suggest(place(s, "alhpa"), "alpha");
  CHECK(render(d) ==
        "error: unknown name 'alhpa'\n"
        " --> gemm.erx:2:9\n"
        "  |\n"
        "2 | let b = alhpa * A\n"
        "  |         ^^^^^ not defined here\n"
        "note: 'alpha' is defined here\n"
        " --> gemm.erx:1:5\n"
        "  |\n"
        "1 | let alpha = 1\n"
        "  |     ^^^^^\n"
        "help: replace 'alhpa' with 'alpha'\n");
  CHECK(apply_fix(*d.fix) == "let alpha = 1\nlet b = alpha * A\n");
}

TEST_CASE("diagnostic: carets count characters, tabs are four wide") {
  const auto s = source_of("\té = ß + wrong\r\nnext");
  CHECK(render(Diagnostic{place(s, "wrong"), "no", ""}) ==
        "error: no\n"
        " --> gemm.erx:1:10\n"
        "  |\n"
        "1 |     é = ß + wrong\n"
        "  |             ^^^^^\n");
}

TEST_CASE("diagnostic: the margin grows with the line number") {
  std::string text;
  for (int i = 0; i < 119; ++i) text += "\n";
  const auto s = source_of(text + "x + y");
  CHECK(render(Diagnostic{place(s, "y"), "no", "here"}) ==
        "error: no\n"
        "   --> gemm.erx:120:5\n"
        "    |\n"
        "120 | x + y\n"
        "    |     ^ here\n");
}

TEST_CASE("diagnostic: an empty span, the end of the text, several lines and bytes that are no text") {
  const auto s = source_of("f(a\nb)\n");
  const auto rendered = [](Span span) { return render(Diagnostic{std::move(span), "no", ""}); };
  CHECK(rendered({s, 3, 3}) == "error: no\n --> gemm.erx:1:4\n  |\n1 | f(a\n  |    ^\n");
  CHECK(rendered({s, 7, 7}) == "error: no\n --> gemm.erx:3:1\n  |\n3 |\n  | ^\n");
  CHECK(rendered({s, 2, 5}) == "error: no\n --> gemm.erx:1:3\n  |\n1 | f(a\n  |   ^\n");
  CHECK(rendered({s, 100, 200}) == rendered({s, 7, 7}));
  CHECK(rendered({source_of(""), 0, 0}) == "error: no\n --> gemm.erx:1:1\n  |\n1 |\n  | ^\n");
  const auto bytes = source_of("a\x01\xff\xc3 b");
  CHECK(rendered(place(bytes, "b")) == "error: no\n --> gemm.erx:1:6\n  |\n1 | a??? b\n  |      ^\n");
}

TEST_CASE("diagnostic: a very long line is cut around the place") {
  const auto s = source_of(std::string(5000, 'a') + " wrong " + std::string(5000, 'b'));
  const std::string text = render(Diagnostic{place(s, "wrong"), "no", "here"});
  CHECK(text.size() < 500);
  const auto line = text.find("1 | "), carets = text.find("  | ", line + 10);
  CHECK(text.find("wrong") - line == text.find("^^^^^ here") - carets);
  CHECK(text.find("1:5002") != std::string::npos);
}

TEST_CASE("diagnostic: help lines for insertions and removals") {
  const auto s = source_of("round<bf16>(x))");
  const auto help = [&](Span where, std::string replacement) {
    const std::string text = render(Diagnostic{{}, "no", ""}.suggest(std::move(where), std::move(replacement)));
    return text.substr(text.find("help"));
  };
  CHECK(help({s, 14, 15}, "") == "help: remove ')'\n");
  CHECK(help({s, 12, 12}, "(") == "help: insert '(' before 'x'\n");
  CHECK(help({s, 15, 15}, ")") == "help: insert ')'\n");
  CHECK(help({s, 6, 10}, "f16") == "help: replace 'bf16' with 'f16'\n");
  CHECK(apply_fix({{s, 15, 15}, "!"}) == "round<bf16>(x))!");
  CHECK_THROWS_AS(apply_fix({{}, "x"}), Bug);
  const Fix outside{{s, 10, 99}, "x"};
  CHECK_THROWS_AS(apply_fix(outside), Bug);
}

TEST_CASE("diagnostic: errors carry all diagnostics, a plain sentence stays one") {
  CHECK(std::string(Error("no such file").what()) == "no such file");
  CHECK(Error("no such file").diagnostics.size() == 1);
  const auto s = source_of("a b");
  const Error two({Diagnostic{place(s, "a"), "first", ""}, Diagnostic{place(s, "b"), "second", ""}});
  CHECK(two.diagnostics.size() == 2);
  const std::string text = two.what();
  CHECK(text.find("error: first") == 0);
  CHECK(text.find("\n\nerror: second") != std::string::npos);
  Diagnostic w{place(s, "a"), "slow", ""};
  w.severity = Severity::warning;
  CHECK(render(w).find("warning: slow") == 0);
  CHECK_THROWS_AS(Error(std::vector<Diagnostic>{}), Bug);
}

TEST_CASE("source: positions count lines and characters") {
  const Source s{"x", "ab\nü€z\n"};
  const auto at = [&](std::size_t offset) {
    const Position p = position_of(s, offset);
    return std::pair(p.line, p.column);
  };
  CHECK(at(0) == std::pair<std::size_t, std::size_t>(1, 1));
  CHECK(at(2) == std::pair<std::size_t, std::size_t>(1, 3));
  CHECK(at(3) == std::pair<std::size_t, std::size_t>(2, 1));
  CHECK(at(4) == std::pair<std::size_t, std::size_t>(2, 1));  // inside ü
  CHECK(at(5) == std::pair<std::size_t, std::size_t>(2, 2));
  CHECK(at(8) == std::pair<std::size_t, std::size_t>(2, 3));
  CHECK(at(99) == std::pair<std::size_t, std::size_t>(3, 1));
}

TEST_CASE("did you mean: near words only") {
  const std::vector<std::string> names = {"alpha", "beta", "round", "acc", "x", "bfloat16", "M", "softmax"};
  CHECK(did_you_mean("alhpa", names) == "alpha");
  CHECK(did_you_mean("Alpha", names) == "alpha");
  CHECK(did_you_mean("ALPHA", names) == "alpha");
  CHECK(did_you_mean("bfloat6", names) == "bfloat16");
  CHECK(did_you_mean("ac", names) == "acc");
  CHECK(did_you_mean("softmx", names) == "softmax");
  CHECK(did_you_mean("gamma", names) == "");
  CHECK(did_you_mean("y", names) == "");
  CHECK(did_you_mean("m", names) == "M");
  CHECK(did_you_mean("", names) == "");
  CHECK(did_you_mean("beta", {"beta"}) == "");
}
