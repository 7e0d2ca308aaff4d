// What an evaluation in a terminal needs: Ctrl-C stops it at once (a second one kills), and long work shows its progress.
//   Session session({.threads = 2});   Evaluation e(graph, inputs, session.options());
#pragma once
#include <memory>

#include "bindings/commands.hpp"
#include "eval/evaluate.hpp"

namespace erx {

/// Installs the handler of SIGINT for its lifetime; at most one at a time.
class Session {
 public:
  explicit Session(const EvaluationArguments&);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  EvaluateOptions options() const;
  /// Erases the progress line, before anything else is printed.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace erx
