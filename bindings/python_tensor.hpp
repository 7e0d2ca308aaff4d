// Arrays that Python hands over become tensors; numbers go back as NumPy arrays.
// The Python side has made each array contiguous, native and of a plain dtype; here its elements are captured by copy.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "eval/tensor.hpp"

namespace erx {

/// `type`: what the elements are ("bf16": then they are its codes, in an array of that many bytes each).
Tensor tensor_of(const pybind11::array& contiguous, const Type& type);
/// The same without a copy: reads the array, and keeps it alive.
Tensor borrowed_tensor(const pybind11::array& contiguous, const Type& type);

/// A copy of contiguous elements of a type of numbers with a width, at an address.
Tensor tensor_at(std::uintptr_t address, Extents extents, const Type& type);

/// A `dltensor` capsule of memory that the processor can read.
/// returns: (array, type name); errors: TypeError for a device or an element type that is not supported.
pybind11::tuple from_dlpack(pybind11::capsule capsule);

/// Every element rounded once into the format. `type` of the result: that format.
Tensor stored(const Tensor&, const Format&, const Rounding&);

pybind11::tuple shape_tuple(const Extents&);

/// By name or as written, "float<e=8, m=10>". errors: Error
Format format_of(const std::string& name);
Type type_of(const std::string& name);

/// What a value of the format takes in an array.
std::size_t code_bytes(const Format&);

}  // namespace erx
