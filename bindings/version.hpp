// The version that `erx --version` prints; CMakeLists.txt and pyproject.toml say the same (tested).
#pragma once
namespace erx {
constexpr const char* version = "0.1.0";
}
