// Completion scripts for bash, zsh and fish, made from the commands and options of the program itself.
// A command completes its options and files; FILE.erx comes first where a spec is wanted.
//   eval "$(erx completion bash)"      erx completion fish > ~/.config/fish/completions/erx.fish
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace erx {

/// `shell`: bash, zsh or fish.
std::string completion_script(const CLI::App&, const std::string& shell);

}  // namespace erx
