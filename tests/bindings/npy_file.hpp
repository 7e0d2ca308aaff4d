// .npy files written by hand, so that the reader is not judged by the writer.
//   NpyFile{"<f4", "(2,)"}.add(1.5f).add(-2.0f).bytes()
#pragma once
#include <cstring>
#include <string>

#include "bindings/files.hpp"

struct NpyFile {
  std::string descr, shape;
  bool fortran = false;
  int version = 1;
  std::string elements = {};

  template <class T>
  NpyFile& add(T value, bool swapped = false) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    std::string bytes(raw, sizeof value);
    if (swapped) bytes.assign(bytes.rbegin(), bytes.rend());
    elements += bytes;
    return *this;
  }

  std::string text() const {
    const std::string quoted = descr[0] == '[' ? descr : "'" + descr + "'";
    std::string header = "{'descr': " + quoted + ", 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
    header.append(79 - header.size() % 16, ' ');
    header += '\n';
    std::string out = "\x93NUMPY";
    out += static_cast<char>(version);
    out += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i));
    return out + header + elements;
  }

  erx::Bytes bytes() const {
    const std::string t = text();
    const auto* p = reinterpret_cast<const std::byte*>(t.data());
    return std::make_shared<std::vector<std::byte>>(p, p + t.size());
  }
};
