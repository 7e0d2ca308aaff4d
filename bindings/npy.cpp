#include "bindings/npy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "bindings/npy_header.hpp"
#include "eval/number_text.hpp"
#include "ir/error.hpp"

namespace erx {
namespace {

[[noreturn]] void refuse(const std::string& place, const std::string& why) { throw Error("cannot read `" + place + "`: " + why); }

std::size_t code_bytes(const Format& f) { return (static_cast<std::size_t>(f.width()) + 7) / 8; }

std::size_t element_size(const Tensor& t) {
  switch (t.storage) {
    case Storage::f64: case Storage::i64: case Storage::u64: return 8;
    case Storage::f32: case Storage::i32: case Storage::u32: return 4;
    case Storage::i16: case Storage::u16: return 2;
    case Storage::i8: case Storage::u8: case Storage::boolean: return 1;
    case Storage::code: return code_bytes(t.type.format);
    case Storage::rational: break;
  }
  throw Bug("a rational number has no bytes");
}

// The extent in bytes, or an Error where the header promises more than any file can hold (an empty array has strides too).
std::size_t data_size(const NpyHeader& h, const std::string& place) {
  std::int64_t size = static_cast<std::int64_t>(std::max<std::size_t>(h.size, 1));
  for (std::int64_t n : h.shape)
    if (__builtin_mul_overflow(size, std::max<std::int64_t>(n, 1), &size)) refuse(place, "its .npy header is damaged");
  return std::find(h.shape.begin(), h.shape.end(), 0) == h.shape.end() ? static_cast<std::size_t>(size) : 0;
}

void refuse_foreign(const NpyHeader& h, const std::string& place) {
  switch (h.kind) {
    case 'O':
      refuse(place, "it holds Python objects, not numbers; save it as numbers, for example np.save(path, np.asarray(a, dtype=np.float32))");
    case 'R': refuse(place, "it holds records (dtype " + h.descr + "); save each field as an array of its own");
    case 'U': case 'S': case 'a': refuse(place, "it holds text (dtype " + h.descr + "), not numbers");
    case 'm': case 'M': refuse(place, "it holds dates (dtype " + h.descr + "), not numbers");
    default: break;
  }
}

/// Pairs of floats, one beside the other.
Tensor complex_of(Tensor t, std::size_t size) {
  t.storage = size == 8 ? Storage::f32 : Storage::f64;
  t.type = Type::of(*find_format(size == 8 ? "f32" : "f64"));
  Tensor im = t;
  im.data += size / 2;
  return Tensor::complex(std::move(t), std::move(im));
}

void swap_bytes(Tensor& t, Bytes& owner, std::size_t offset, std::size_t size, std::size_t total) {
  auto swapped = std::make_shared<std::vector<std::byte>>(owner->begin() + static_cast<std::ptrdiff_t>(offset),
                                                          owner->begin() + static_cast<std::ptrdiff_t>(offset + total));
  for (std::size_t i = 0; i < total; i += size) std::reverse(swapped->begin() + static_cast<std::ptrdiff_t>(i), swapped->begin() + static_cast<std::ptrdiff_t>(i + size));
  t.data = swapped->data();
  t.owner = std::move(swapped);
}

Extents strides_of(const NpyHeader& h) {
  Extents strides(h.shape.size());
  auto step = static_cast<std::int64_t>(h.size);
  for (std::size_t k = 0; k < strides.size(); ++k) {
    const std::size_t axis = h.fortran_order ? k : strides.size() - 1 - k;
    strides[axis] = step;
    step *= std::max<std::int64_t>(h.shape[axis], 1);
  }
  return strides;
}

struct Numeric {
  char kind;
  std::size_t size;
  Storage storage;
  const char* type;
};

constexpr Numeric numerics[] = {
    {'f', 8, Storage::f64, "f64"},  {'f', 4, Storage::f32, "f32"},  {'f', 2, Storage::code, "f16"}, {'b', 1, Storage::boolean, "bool"},
    {'i', 1, Storage::i8, "i8"},    {'i', 2, Storage::i16, "i16"},  {'i', 4, Storage::i32, "i32"},  {'i', 8, Storage::i64, "i64"},
    {'u', 1, Storage::u8, "u8"},    {'u', 2, Storage::u16, "u16"},  {'u', 4, Storage::u32, "u32"},  {'u', 8, Storage::u64, "u64"},
};

Type named(const char* name) {
  if (auto type = find_type(name)) return *type;
  // Widths that the language has no word for still hold numbers.
  const bool is_signed = name[0] == 'i';
  return Type::integer(std::atoi(name + 1), is_signed);
}

}  // namespace

Tensor as_codes(Tensor t, std::size_t size, const Reading& r) {
  if (!r.declared || !r.declared->is_floating())
    refuse(r.place, "it holds bits (" + counted(static_cast<std::int64_t>(size), "byte") +
                        " an element) and nothing says of which format; declare it in a spec, `A: bf16[M, N]`, or write the format in front, A=bf16:" + r.place);
  const Format& f = r.declared->format;
  if (size != code_bytes(f))
    refuse(r.place, "its elements have " + counted(static_cast<std::int64_t>(size), "byte") + ", but " + f.name + " has " +
                        counted(static_cast<std::int64_t>(code_bytes(f)), "byte"));
  t.type = *r.declared;
  t.storage = f == *find_format("f64") ? Storage::f64 : f == *find_format("f32") ? Storage::f32 : Storage::code;
  if (f.width() % 8 == 0) return t;
  const std::int64_t n = t.size();
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, t.address(i), size);
    if (bits >> f.width())
      refuse(r.place, "element " + index_text(unravel(i, t.extents)) + " has bits beyond the " + std::to_string(f.width()) + " of " + f.name);
  }
  return t;
}

Tensor decode_npy(Bytes file, const Reading& r) {
  const NpyHeader h = parse_npy_header(*file, r.place);
  refuse_foreign(h, r.place);
  const std::size_t total = data_size(h, r.place);
  const std::size_t present = file->size() - h.data;
  if (present < total) refuse(r.place, "it is cut short: " + std::to_string(total - present) + " of " + std::to_string(total) + " bytes of elements are missing");
  if (present > total) refuse(r.place, "it has " + std::to_string(present - total) + " bytes more than its header says");
  Tensor t;
  t.extents = h.shape;
  t.byte_strides = strides_of(h);
  t.data = file->data() + h.data;
  t.owner = file;
  if (h.order == '>' && h.size > 1) swap_bytes(t, file, h.data, h.kind == 'c' ? h.size / 2 : h.size, total);
  if (h.kind == 'c' && (h.size == 8 || h.size == 16)) {
    if (r.bits) refuse(r.place, "it holds complex numbers, not bits");
    return complex_of(std::move(t), h.size);
  }

  const bool is_bits = h.kind == 'V' || (h.kind == 'f' && h.size == 1);
  const bool is_integer = h.kind == 'i' || h.kind == 'u';
  if (is_bits || (r.bits && is_integer)) return as_codes(std::move(t), h.size, r);
  for (const Numeric& n : numerics) {
    if (n.kind != h.kind || n.size != h.size) continue;
    t.storage = n.storage;
    t.type = named(n.type);
    if (r.bits && !(r.declared && t.type == *r.declared)) refuse(r.place, "it holds numbers of type " + std::string(n.type) + ", not bits");
    return t;
  }
  if (h.kind == 'f' || h.kind == 'c') refuse(r.place, "dtype " + h.descr + " (long double) is not portable; save it as " + (h.kind == 'f' ? "float64" : "complex128"));
  refuse(r.place, "dtype " + h.descr + " is not known");
}

std::string encode_npy(const Tensor& t) {
  std::string descr;
  const std::size_t size = element_size(t);
  if (t.storage == Storage::code) descr = t.type.format == *find_format("f16") ? "<f2" : "|V" + std::to_string(size);
  for (const Numeric& n : numerics)
    if (n.storage == t.storage && n.storage != Storage::code) descr = (n.size == 1 ? '|' : '<') + (n.kind + std::to_string(n.size));
  std::string shape;
  for (std::int64_t n : t.extents) shape += std::to_string(n) + ",";
  if (t.extents.size() > 1) shape.pop_back();
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');  // elements start at a multiple of 64
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  if (header.size() > 0xffff) throw Bug("an .npy header of more than 64 KiB");
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  const auto n = static_cast<std::size_t>(t.size());
  Extents contiguous = contiguous_strides(t.extents);
  for (auto& s : contiguous) s *= static_cast<std::int64_t>(size);
  if (contiguous == t.byte_strides) return out.append(reinterpret_cast<const char*>(t.data), n * size);
  for (std::size_t i = 0; i < n; ++i) out.append(reinterpret_cast<const char*>(t.address(static_cast<std::int64_t>(i))), size);
  return out;
}

}  // namespace erx
