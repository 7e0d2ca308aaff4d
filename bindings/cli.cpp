#include "bindings/cli.hpp"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <new>

#include "bindings/arguments.hpp"
#include "bindings/commands.hpp"
#include "bindings/completion.hpp"
#include "bindings/version.hpp"
#include "eval/evaluate.hpp"
#include "eval/float_guard.hpp"
#include "ir/error.hpp"

namespace erx {
namespace {

constexpr const char* spec_help = "SPEC.erx, SPEC.erx:NAME where the file holds several, - or -:NAME for standard input";
constexpr const char* in_help = "inputs: NAME=FILE.npy, NAME=FILE.npz:ARRAY, NAME=FILE.safetensors:TENSOR, NAME=0.3, NAME=3/10, or an archive of all";

// Told before CLI11 converts: its own conversion takes -1 for a huge count, and its ranges print hundreds of digits.
std::string refusal_of_count(const std::string& word) {
  if (!word.empty() && word.size() <= 9 && word.find_first_not_of("0123456789") == std::string::npos) return "";
  return "`" + word + "` is no whole number from 0 to 999999999";
}

void add_evaluation(CLI::App& command, EvaluationArguments& e) {
  command.add_option("--threads", e.threads, "number of threads (0: all cores)")->check(refusal_of_count);
  command.add_flag("--progress,!--no-progress", e.progress, "show progress on a terminal");
}

void add_spec(CLI::App& command, std::string& spec, std::vector<std::string>& in) {
  command.add_option("SPEC", spec, spec_help)->required();
  command.add_option("--in", in, in_help)->expected(1, -1);
}

// What was asked for; parsing fills the arguments and chooses the action.
struct Parser {
  CLI::App app{"says what a numerical kernel may round, and whether it did just that", "erx"};
  CheckArguments check;
  EvalArguments eval;
  TestArguments test;
  FmtArguments fmt;
  GraphArguments graph;
  DocArguments doc;
  std::string shell;
  std::function<int()> action;

  CLI::App& command(const std::string& name, const std::string& help, std::function<int()> run) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->callback([this, run = std::move(run)] { action = run; });
    return *sub;
  }

  Parser() {
    app.set_version_flag("--version", std::string("erx ") + version);
    app.require_subcommand(1);
    add_check();
    add_eval();
    auto& t = command("test", "run the example blocks of files", [this] { return test_command(test); });
    t.add_option("FILE", test.files, "FILE.erx ...")->required();
    add_evaluation(t, test.evaluation);
    auto& f = command("fmt", "bring files into canonical layout", [this] { return fmt_command(fmt); });
    f.add_option("FILE", fmt.files, "FILE.erx ..., or - to filter standard input")->required();
    f.add_flag("--check", fmt.check, "change nothing; status 1 if a file is not in canonical layout");
    auto& g = command("graph", "print a spec as canonical text, or its graph", [this] { return graph_command(graph); });
    add_spec(g, graph.spec, graph.in);
    g.add_flag("--dot", graph.dot, "as DOT, for Graphviz");
    auto& d = command("doc", "describe a spec as Markdown: its formula, its roundings, its examples", [this] { return doc_command(doc); });
    d.add_option("SPEC", doc.spec, spec_help)->required();
    d.add_flag("--run,!--no-run", doc.examples, "run the examples and say what came out");
    add_evaluation(d, doc.evaluation);
    command("ops", "list the operations", ops_command);
    command("formats", "list the formats", formats_command);
    command("words", "list the words of the language, for editors", words_command);
    auto& c = command("completion", "print the completion script of a shell", [this] {
      std::cout << completion_script(app, shell);
      return static_cast<int>(covered);
    });
    c.add_option("SHELL", shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  }

  void add_check() {
    auto& c = command("check", "is this output possible under the spec?", [this] { return check_command(check); });
    add_spec(c, check.spec, check.in);
    c.add_option("--out", check.out, "the output: FILE.npy, or NAME=FILE.npy for each of several results")->expected(1, -1)->required();
    c.add_option("--json", check.json, "write the report as JSON to this file (- for standard output)");
    c.add_option("--plot", check.plot, "write a picture of where the violations lie to this FILE.svg");
    c.add_option("--where", check.where, "check only where this mask is true");
    c.add_flag("--signed-zero", check.signed_zero, "tell -0 from +0");
    c.add_option("--show", check.show, "number of violations listed")->check(refusal_of_count);
    add_evaluation(c, check.evaluation);
  }

  void add_eval() {
    auto& e = command("eval", "print the set of every element", [this] { return eval_command(eval); });
    add_spec(e, eval.spec, eval.in);
    e.add_option("--save", eval.save, "write the sets to this .npz: NAME.lo, NAME.hi, NAME.flags");
    e.add_option("--show", eval.show, "number of elements printed")->check(refusal_of_count);
    add_evaluation(e, eval.evaluation);
  }
};

std::string or_near(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = did_you_mean(word, known);
  if (!near.empty()) return "; did you mean `" + near + "`?";
  std::string list;
  for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
  return "; there are " + list;
}

/// Throws for the first word that looks like an option and is none of the app's, or lacks its value. `caller` names the app:
/// "erx check".
void refuse_unknown_options(const CLI::App& app, const std::string& caller, const std::vector<std::string>& words) {
  std::vector<std::string> options, flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  const auto is_among = [](const std::vector<std::string>& known, const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i], name = word.substr(0, word.find('='));
    // CLI11 would take the next option for the value.
    const CLI::Option* option = word.starts_with("--") && word == name ? app.get_option_no_throw(name) : nullptr;
    if (option && option->get_items_expected_min() > 0 && (i + 1 == words.size() || words[i + 1].starts_with("--")))
      throw Error("`" + name + "` is followed by no value (" + option->get_description() + ")");
    if (name.starts_with("--") && name.size() > 2 && !is_among(options, name))
      throw Error("`" + caller + "` has no option `" + name + "`" + or_near(name, options));
    if (caller == "erx" && name != "--" && !name.starts_with("--") && !is_among(flags, name))
      throw Error("`erx` has no option `" + name + "`" + or_near(name, options));
  }
}

// A misspelt command or option is told before CLI11 tells what is missing because of it. `words` in order, without the program.
void refuse_unknown(CLI::App& app, const std::vector<std::string>& words) {
  if (words[0].starts_with("-")) return refuse_unknown_options(app, "erx", {words[0]});
  std::vector<std::string> commands;
  CLI::App* sub = nullptr;
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    commands.push_back(command->get_name());
    if (command->get_name() == words[0]) sub = command;
  }
  if (!sub) throw Error("there is no command `" + words[0] + "`" + or_near(words[0], commands));
  refuse_unknown_options(*sub, "erx " + words[0], words);
}

int parse_and_run(int argc, char** argv) {
  Parser parser;
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  for (std::string& word : words)
    if (word.starts_with("-:")) word.replace(0, 1, standard_input);  // CLI11 would take it for an option
  if (words.empty()) {
    std::cerr << parser.app.help();
    return mistaken;
  }
  refuse_unknown(parser.app, words);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    parser.app.parse(std::move(words));
  } catch (const CLI::Success& e) {  // --help, --version
    parser.app.exit(e, std::cout, std::cerr);
    return covered;
  } catch (const CLI::RequiredError& e) {
    const bool spec = std::string_view(e.what()).starts_with("SPEC ");
    throw Error(spec ? "no spec is given; the spec comes before --in: erx " + parser.app.get_subcommands().front()->get_name() + " SPEC.erx --in .."
                     : std::string(e.what()) + " (erx COMMAND --help)");
  } catch (const CLI::ParseError& e) {
    throw Error(std::string(e.what()) + " (erx --help, erx COMMAND --help)");
  }
  const int status = parser.action();
  std::cout.flush();
  if (!std::cout) throw Error("cannot write to standard output");
  return status;
}

}  // namespace

int run_command(int argc, char** argv) {
  try {
    const FloatGuard guard;  // a library may have set flush-to-zero when it was loaded
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    std::cerr << render(error.diagnostics);
    return mistaken;
  } catch (const Interrupted&) {
    // The shell is told the truth: this process ends by the signal.
    std::cout.flush();
    std::cerr << "interrupted\n";
    ::signal(SIGINT, SIG_DFL);
    ::raise(SIGINT);
    return 130;
  } catch (const std::bad_alloc&) {
    std::cerr << "error: there is not enough memory for this evaluation\n";
    return mistaken;
  } catch (const std::exception& bug) {
    std::cerr << "internal error: " << bug.what() << "\nThis is a mistake of erx, not of yours.\n";
    return internal_error;
  }
}

}  // namespace erx
