// The standard functions of the language: ops/prelude.erx, which the build puts into the program as text.
//   std::string_view text = prelude_text();
#pragma once
#include <string_view>

namespace erx {

std::string_view prelude_text();

}  // namespace erx
