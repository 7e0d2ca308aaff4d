// A tensor as a program has it: float64, float32, or the codes of a narrower format in its own bytes.
//   Tensor t = stored_tensor(f, {2, 3}, values);
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "eval/tensor.hpp"

namespace erx {

/// values: in C order, each one of the format.
inline Tensor stored_tensor(const Format& f, Extents extents, const std::vector<double>& values) {
  const std::size_t size = static_cast<std::size_t>(f.width() + 7) / 8;
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t code = encode(f, values[i]);
    std::memcpy(bytes->data() + i * size, &code, size);
  }
  Tensor t;
  t.type = Type::of(f);
  t.storage = size == 8 ? Storage::f64 : size == 4 ? Storage::f32 : Storage::code;
  t.byte_strides = contiguous_strides(extents);
  for (std::int64_t& s : t.byte_strides) s *= static_cast<std::int64_t>(size);
  t.extents = std::move(extents);
  t.data = bytes->data();
  t.owner = bytes;
  return t;
}

}  // namespace erx
