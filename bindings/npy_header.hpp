// The header of an .npy file, and its dtype: "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".
//   NpyHeader h = parse_npy_header(bytes, "a.npy");   h.dtype.kind == 'f', h.dtype.size == 4
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "ir/shape.hpp"

namespace erx {

struct NpyHeader {
  char order = '<';     // '<' little-endian, '>' big-endian, '|' not applicable
  char kind = 'f';      // NumPy's letter: f i u b V O S U c m M; 'R' for a structured dtype
  std::size_t size = 0;  // bytes of an element
  std::string descr;    // as written
  bool fortran_order = false;
  Extents shape;
  std::size_t data = 0;  // offset of the first element
};

/// errors: Error naming `place` where this is no .npy file or its header is damaged.
NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& place);

}  // namespace erx
