// Tensors from files: .npy, .npz, .safetensors. A void array (V1, V2) or <f1 holds the bits of the declared format.
//   Tensor t = read_tensor("inputs.npz:A", declared);
#pragma once
#include <map>
#include <optional>
#include <string>

#include "eval/tensor.hpp"

namespace erx {

/// `place`: "a.npy", "x.npz:name", "m.safetensors:name"; in front of these "bits:" (the integers in it are the bits of `declared`)
/// or a format, "bf16:" (the elements are bits of that format, where nothing declares it).
/// A .npy of plain floats keeps its own type (f32, f64, f16); `declared` gives the format of void arrays.
/// errors: Error naming the file for a missing, truncated or foreign file, an object array, a void array without a format.
Tensor read_tensor(const std::string& place, const std::optional<Type>& declared);

/// All arrays of an .npz or .safetensors by name (without .npy); `declared` by name.
std::map<std::string, Tensor> read_npz(const std::string& path, const std::map<std::string, Type>& declared);

/// Writes float64, uint8 ... arrays into an .npz, whole or not at all.
struct NamedArray {
  std::string name;
  Tensor tensor;
};
void write_npz(const std::string& path, const std::vector<NamedArray>&);

/// A tensor in Python's terms as an error message needs it: "a float32 array of shape (3, 4)".
std::string describe(const Tensor&);

}  // namespace erx
