// The .npz format: a zip archive of .npy files. The only home of libzip is npz.cpp.
//   Tensor a = read_npz_array("x.npz", "A", {"x.npz:A"});
#pragma once
#include <string>
#include <vector>

#include "bindings/npy.hpp"

namespace erx {

/// Names of the arrays (without .npy), in the order of the file. errors: Error for a missing or damaged archive.
std::vector<std::string> npz_names(const std::string& path);

/// errors: Error; an unknown name is met with the names there are.
Tensor read_npz_array(const std::string& path, const std::string& name, const Reading&);

}  // namespace erx
