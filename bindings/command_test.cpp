// erx test: runs the example blocks of files.
#include <algorithm>
#include <iostream>
#include <sstream>

#include "bindings/arguments.hpp"
#include "bindings/commands.hpp"
#include "bindings/examples.hpp"
#include "bindings/session.hpp"
#include "eval/number_text.hpp"

namespace erx {
namespace {

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) out += line.empty() ? "\n" : "    " + line + "\n";
  return out;
}

std::string place_of(const Span& span, const std::string& file) {
  return span ? file + ":" + std::to_string(position_of(*span.source, span.begin).line) : file;
}

void print(const ExampleOutcome& o, const std::string& file, Session& session) {
  session.clear();
  std::cout << (o.passed ? "pass   " : o.wrong ? "error  " : "FAIL   ") << place_of(o.span, file) << ": \"" << o.example << "\"";
  if (!o.claim.empty()) std::cout << " " << o.claim;
  if (!o.note.empty()) std::cout << ": " << o.note;
  std::cout << "\n";
  if (!o.why.empty()) (o.wrong ? std::cerr : std::cout) << indented(o.why);
  for (const auto& w : o.warnings) std::cerr << "warning: " << place_of(o.span, file) << ": " << w << "\n";
}

int status_of(const ExamplesRun& run) { return run.wrong ? mistaken : run.failed ? violated : covered; }

int test_file(const std::string& file, Session& session, ExamplesRun& total) {
  try {
    const auto program = load_program(file);
    const ExamplesRun run = run_examples(*program, session.options(), [&](const ExampleOutcome& o) { print(o, file, session); });
    if (!run.warnings.empty()) std::cerr << render(run.warnings);
    if (run.examples == 0) std::cerr << "warning: " << file << " has no example\n";
    total.examples += run.examples;
    total.passed += run.passed;
    total.failed += run.failed;
    total.wrong += run.wrong;
    return status_of(run);
  } catch (const Error& error) {
    std::cerr << render(error.diagnostics);
    return mistaken;
  }
}

}  // namespace

int test_command(const TestArguments& arguments) {
  Session session(arguments.evaluation);
  ExamplesRun total;
  int status = covered;
  for (const auto& file : arguments.files) status = std::max(status, test_file(file, session, total));
  std::cout << counted(static_cast<std::int64_t>(total.examples), "example") << ": " << total.passed << " passed, " << total.failed << " failed";
  if (total.wrong) std::cout << ", " << counted(static_cast<std::int64_t>(total.wrong), "error");
  std::cout << "\n";
  return status;
}

}  // namespace erx
