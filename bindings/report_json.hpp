// A report as JSON: everything that its text shows.
#pragma once
#include <string>

#include "eval/check.hpp"

namespace erx {
std::string to_json(const Report&);
}
