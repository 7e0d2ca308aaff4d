// libFuzzer: any bytes are a program, or are refused with a message. A crash, a hang or a Bug fails.
#include <cstdint>
#include <string>

#include "grammar/program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    erx::parse(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const erx::Error& e) {
    // The message is made too: it quotes the text around a place.
    if (erx::render(e.diagnostics).empty()) __builtin_trap();
  }
  return 0;
}
