// One function per command, with its arguments as words. Each returns the exit status; the user's mistakes leave as Error.
//   check_command({.spec = "gemm.erx", .in = {"A=a.npy", "B=b.npy"}, .out = {"out.npy"}})
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace erx {

enum Status { covered = 0, violated = 1, mistaken = 2, inapplicable = 3, internal_error = 70 };

struct EvaluationArguments {
  int threads = 0;
  bool progress = true;  // shown on a terminal only
};

struct CheckArguments {
  std::string spec;  // "gemm.erx", "gemm.erx:NAME", "-"
  std::vector<std::string> in, out;
  std::string where, json, plot;
  bool signed_zero = false;
  std::size_t show = 5;
  EvaluationArguments evaluation;
};
int check_command(const CheckArguments&);

struct EvalArguments {
  std::string spec;
  std::vector<std::string> in;
  std::string save;
  std::size_t show = 20;
  EvaluationArguments evaluation;
};
int eval_command(const EvalArguments&);

struct TestArguments {
  std::vector<std::string> files;
  EvaluationArguments evaluation;
};
int test_command(const TestArguments&);

struct FmtArguments {
  std::vector<std::string> files;
  bool check = false;
};
int fmt_command(const FmtArguments&);

struct GraphArguments {
  std::string spec;
  std::vector<std::string> in;
  bool dot = false;
};
int graph_command(const GraphArguments&);

struct DocArguments {
  std::string spec;
  bool examples = true;  // run them
  EvaluationArguments evaluation;
};
int doc_command(const DocArguments&);

int ops_command();
int words_command();
int formats_command();

}  // namespace erx
