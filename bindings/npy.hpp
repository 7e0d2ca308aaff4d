// The .npy format: a header that is a Python dictionary, then the elements.
// Any byte order and either memory order; big-endian elements are swapped once, Fortran order is a matter of strides.
//   Tensor t = decode_npy(read_file("a.npy"), {"a.npy"});    std::string bytes = encode_npy(t);
#pragma once
#include <optional>
#include <string>

#include "bindings/files.hpp"
#include "eval/tensor.hpp"

namespace erx {

/// How the elements of an array are to be understood, and what to call the array in messages.
struct Reading {
  std::string place;                     // "a.npy", "x.npz:A"
  std::optional<Type> declared = {};     // gives the format of void arrays
  bool bits = false;                     // integers hold the bits of `declared`
};

/// errors: Error naming the place for a truncated or foreign file, an object, text, date or complex array, a void array without a format.
Tensor decode_npy(Bytes, const Reading&);

/// Version 1.0, C order; codes of formats that NumPy does not know as void elements.
std::string encode_npy(const Tensor&);

/// Gives elements that are bits (void arrays, `bits:`) the declared format. Checked: width, and no bits beyond the width.
Tensor as_codes(Tensor raw, std::size_t element_size, const Reading&);

}  // namespace erx
