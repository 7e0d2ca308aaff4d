// The .safetensors format: the length of a JSON header, the header, the bytes of all tensors.
//   Tensor w = read_safetensor("m.safetensors", "w", {"m.safetensors:w"});
#pragma once
#include <string>
#include <vector>

#include "bindings/npy.hpp"

namespace erx {

std::vector<std::string> safetensors_names(const std::string& path);

/// errors: Error for a damaged file, an unknown name or a dtype without a counterpart.
Tensor read_safetensor(const std::string& path, const std::string& name, const Reading&);

}  // namespace erx
