// Short spellings for the tests of the language.
//   auto g = lower("x + y", {"x=bf16[2, 3]", "y=f32[3]"});
#pragma once
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "grammar/program.hpp"

namespace erx::test {

/// "A=bf16[2, 3]", "alpha=real", "n=int:4".
inline std::map<std::string, Binding> bindings(const std::vector<std::string>& inputs) {
  std::map<std::string, Binding> bound;
  for (const std::string& text : inputs) {
    const auto equals = text.find('=');
    std::string type = text.substr(equals + 1);
    Binding b;
    if (const auto colon = type.find(':'); colon != type.npos) {
      b.value = std::stod(type.substr(colon + 1));
      type.resize(colon);
    }
    const auto bracket = type.find('[');
    if (bracket != type.npos) {
      std::stringstream dims(type.substr(bracket + 1));
      std::int64_t extent;
      char comma;
      while (dims >> extent) {
        b.extents.push_back(extent);
        dims >> comma;
      }
    }
    b.type = *find_type(type.substr(0, bracket));
    bound[text.substr(0, equals)] = b;
  }
  return bound;
}

inline std::shared_ptr<const Graph> lower(const std::string& text, const std::vector<std::string>& inputs, const std::string& spec = "") {
  return parse(text)->spec(spec).lower(bindings(inputs));
}

/// The diagnostics of a text, rendered; "" if there are none.
inline std::string mistakes(const std::string& text, const std::vector<std::string>& inputs = {}) {
  try {
    auto program = parse(text);
    if (!inputs.empty()) program->spec().lower(bindings(inputs));
    return "";
  } catch (const Error& e) {
    return render(e.diagnostics);
  }
}

/// Do the two graphs say the same? Names and operands alike; a node without a choice may be shared in one and written twice in the
/// other; nodes with a choice correspond one to one. `why` tells the first difference.
bool same(const Graph& a, const Graph& b, std::string& why);

}  // namespace erx::test
