// The command `erx`: check, eval, test, fmt, graph, ops, formats.
// Results go to standard output, diagnostics to standard error. Exit status: 0 covered, 1 a proved violation, 2 the spec, the
// inputs or the call are wrong, 3 inapplicable, 70 an internal error.
//   int main(int argc, char** argv) { return erx::run_command(argc, argv); }
#pragma once

namespace erx {
int run_command(int argc, char** argv);
}
