#include "bindings/completion.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace erx {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) { return app.get_subcommands([](const CLI::App*) { return true; }); }

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

/// The words that an argument may be, where they are listed: "bash, zsh or fish".
bool takes_shell(const CLI::App& command) { return command.get_option_no_throw("SHELL") != nullptr; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* c : commands_of(app)) {
    commands += (commands.empty() ? "" : " ") + c->get_name();
    cases += "    " + c->get_name() + ") words='" + joined(options_of(*c)) + (takes_shell(*c) ? " bash zsh fish" : "") + "' ;;\n";
  }
  return "# bash completion of erx: eval \"$(erx completion bash)\"\n"
         "_erx_file() {\n"  // NAME=FILE
         "  compset -P '*='\n"
         "  _files\n"
         "}\n"
         "_erx() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} words=''\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" + commands + " " + joined(options_of(app)) + "' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" + cases +
         "  esac\n"
         "  if [[ $current == -* || ${COMP_WORDS[1]} == completion ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  elif ((COMP_CWORD == 2)); then\n"
         "    COMPREPLY=($(compgen -f -X '!*.erx' -- \"$current\") $(compgen -d -- \"$current\"))\n"
         "  else\n"
         "    current=${current#*=}\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _erx erx\n";
}

std::string zsh(const CLI::App& app) {
  std::string commands, cases;
  const auto escaped = [](std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == ':' || text[i] == '[' || text[i] == ']') text.insert(i++, "\\");
    return text;
  };
  for (const CLI::App* c : commands_of(app)) {
    commands += "    " + quoted(c->get_name() + ":" + escaped(c->get_description())) + "\n";
    cases += "    " + c->get_name() + ") _arguments";
    for (const CLI::Option* option : c->get_options())
      for (const std::string& name : option->get_lnames()) cases += " " + quoted("--" + name + "[" + escaped(option->get_description()) + "]");
    cases += takes_shell(*c) ? " '*:shell:(bash zsh fish)' ;;\n" : " '*:file:_erx_file' ;;\n";
  }
  return "#compdef erx\n"
         "# zsh completion of erx: erx completion zsh > a folder of $fpath, as _erx\n"
         "_erx_file() {\n"  // NAME=FILE
         "  compset -P '*='\n"
         "  _files\n"
         "}\n"
         "_erx() {\n"
         "  local -a commands\n"
         "  commands=(\n" + commands + "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe 'command' commands\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $command in\n" + cases +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _erx ]]; then _erx \"$@\"; else compdef _erx erx; fi\n";  // loaded by its first use, or read
}

std::string fish(const CLI::App& app) {
  std::string text = "# fish completion of erx: erx completion fish > ~/.config/fish/completions/erx.fish\n";
  for (const CLI::App* c : commands_of(app)) {
    text += "complete -c erx -n __fish_use_subcommand -f -a " + c->get_name() + " -d " + quoted(c->get_description()) + "\n";
    const std::string seen = "complete -c erx -n '__fish_seen_subcommand_from " + c->get_name() + "'";
    for (const CLI::Option* option : c->get_options())
      for (const std::string& name : option->get_lnames()) text += seen + " -l " + name + " -d " + quoted(option->get_description()) + "\n";
    if (takes_shell(*c)) text += seen + " -f -a 'bash zsh fish'\n";
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

}  // namespace erx
