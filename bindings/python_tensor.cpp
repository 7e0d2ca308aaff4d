#include "bindings/python_tensor.hpp"

#include <cmath>
#include <cstring>

#include "eval/buffer.hpp"
#include "eval/parallel.hpp"
#include "grammar/program.hpp"
#include "ir/error.hpp"
#include "ops/rounding.hpp"
#include "ops/stream_copy.hpp"

namespace py = pybind11;

namespace erx {
namespace {

Storage storage_of(const py::dtype& dtype, const Type& type) {
  const char kind = dtype.kind();
  const auto size = dtype.itemsize();
  if (kind == 'b') return Storage::boolean;
  if (kind == 'f' && size == 8) return Storage::f64;
  if (kind == 'f' && size == 4) return Storage::f32;
  if (type.is_floating() && static_cast<std::size_t>(size) == code_bytes(type.format)) return Storage::code;  // whatever NumPy calls them
  if (kind == 'i' || kind == 'u') {
    const bool sign = kind == 'i';
    switch (size) {
      case 1: return sign ? Storage::i8 : Storage::u8;
      case 2: return sign ? Storage::i16 : Storage::u16;
      case 4: return sign ? Storage::i32 : Storage::u32;
      case 8: return sign ? Storage::i64 : Storage::u64;
      default: break;
    }
  }
  throw py::type_error("arrays of dtype " + std::string(py::str(dtype)) + " are not supported");
}

/// How elements of a type lie in an array of that type, and their size.
std::pair<Storage, std::size_t> storage_of(const Type& type) {
  if (type.is_boolean()) return {Storage::boolean, 1};
  if (type.is_floating() && !type.is_complex) {
    const std::size_t size = code_bytes(type.format);
    return {type.format.name == "f64" ? Storage::f64 : type.format.name == "f32" ? Storage::f32 : Storage::code, size};
  }
  switch (type.is_integer() ? type.bits : 0) {
    case 8: return {type.is_signed ? Storage::i8 : Storage::u8, 1};
    case 16: return {type.is_signed ? Storage::i16 : Storage::u16, 2};
    case 32: return {type.is_signed ? Storage::i32 : Storage::u32, 4};
    case 64: return {type.is_signed ? Storage::i64 : Storage::u64, 8};
    default: throw Bug("no storage for elements of type " + to_string(type));
  }
}

// The part of the DLPack 0.8 ABI that is read here.
struct DlTensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t rank;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};

// Codes of DLPack; 3 is an opaque handle.
std::string dlpack_type(std::uint8_t code, std::uint8_t bits) {
  switch (code) {
    case 0: return "i" + std::to_string(bits);
    case 1: return "u" + std::to_string(bits);
    case 2: return "f" + std::to_string(bits);
    case 4: return bits == 16 ? "bf16" : "";
    case 5: return bits == 64 || bits == 128 ? "complex" + std::to_string(bits) : "";
    case 6: return "bool";
    case 7: return "f8e3m4";
    case 9: return "f8e4m3b11fnuz";
    case 8: return "f8e4m3";
    case 10: return "f8e4m3fn";
    case 11: return "f8e4m3fnuz";
    case 12: return "f8e5m2";
    case 13: return "f8e5m2fnuz";
    case 14: return "f8e8m0fnu";
    default: return "";
  }
}

std::string plain_dtype(const std::string& type, std::uint8_t bits) {
  if (type == "bool") return "?";
  const std::string bytes = std::to_string(bits / 8);
  if (type == "f64" || type == "f32") return "f" + bytes;
  if (type.starts_with("complex")) return "c" + bytes;
  return (type[0] == 'i' ? "i" : "u") + bytes;  // other formats as their codes
}

double rounded(const Tensor& t, std::int64_t i, const Format& format, const Rounding& rounding) {
  if (t.storage == Storage::i64 || t.storage == Storage::u64) {  // a wide integer must not be rounded to a double first
    std::uint64_t bits = 0;
    std::memcpy(&bits, t.address(i), sizeof bits);
    const bool negative = t.storage == Storage::i64 && static_cast<std::int64_t>(bits) < 0;
    if (negative) bits = 0 - bits;
    if (bits == 0) return round_to(0.0, format, rounding);
    const int shift = __builtin_clzll(bits);
    return round_to(Chopped{negative, bits << shift, 63 - shift, false}, format, rounding);
  }
  const double x = t.at(i);
  if (std::isfinite(x)) return round_to(x, format, rounding);
  if (std::isnan(x)) {
    if (format.has_nan()) return x;
    throw Error(format.name + " has no NaN");
  }
  return overflow_result(x < 0, format, rounding);
}

}  // namespace

namespace {

/// A copy of all bytes of the array, in memory that is used again, by all threads where it is large.
std::shared_ptr<std::vector<std::byte, PageAllocator<std::byte>>> copy_of(const py::array& array) {
  auto bytes = std::make_shared<std::vector<std::byte, PageAllocator<std::byte>>>(static_cast<std::size_t>(array.nbytes()));
  constexpr std::size_t piece = std::size_t{1} << 18, cached = std::size_t{1} << 24;  // smaller copies are read while they are in the cache
  const auto* from = static_cast<const std::byte*>(array.data());
  const std::size_t size = bytes->size(), pieces = size / piece;
  if (size >= piece / 4) Crew::expect();  // what is bound will be evaluated
  if (pieces >= 4)
    parallel_blocks(static_cast<std::int64_t>(pieces), {}, [&](std::int64_t k) {
      const std::size_t at = static_cast<std::size_t>(k) * piece;
      if (size < cached) {
        std::memcpy(bytes->data() + at, from + at, piece);
        return;
      }
      stream_copy(reinterpret_cast<const double*>(from + at), piece / sizeof(double), reinterpret_cast<double*>(bytes->data() + at));
      end_of_stream();
    });
  const std::size_t done = pieces >= 4 ? pieces * piece : 0;
  if (done < size) std::memcpy(bytes->data() + done, from + done, size - done);
  return bytes;
}

/// Keeps an array while a tensor reads it.
std::shared_ptr<const void> keeper_of(const py::array& array) {
  const auto release = [](const py::array* kept) {
    const py::gil_scoped_acquire gil;
    delete kept;
  };
  return std::shared_ptr<const py::array>(new py::array(array), release);
}

}  // namespace

Tensor tensor_of(const py::array& array, const Type& type) {
  if (type.is_complex) {  // pairs of floats
    Tensor re;
    const auto size = static_cast<std::int64_t>(array.itemsize());
    re.type = type.part();
    re.storage = size == 8 ? Storage::f32 : Storage::f64;
    re.extents.assign(array.shape(), array.shape() + array.ndim());
    re.byte_strides = contiguous_strides(re.extents);
    for (auto& s : re.byte_strides) s *= size;
    auto bytes = copy_of(array);
    re.data = bytes->data();
    re.owner = std::move(bytes);
    Tensor im = re;
    im.data += size / 2;
    return Tensor::complex(std::move(re), std::move(im));
  }
  Tensor t = borrowed_tensor(array, type);
  auto bytes = copy_of(array);
  t.data = bytes->data();
  t.owner = std::move(bytes);
  return t;
}

Tensor borrowed_tensor(const py::array& array, const Type& type) {
  Tensor t;
  t.type = type;
  t.storage = storage_of(array.dtype(), type);
  t.extents.assign(array.shape(), array.shape() + array.ndim());
  t.byte_strides = contiguous_strides(t.extents);
  for (auto& s : t.byte_strides) s *= array.itemsize();
  t.data = static_cast<const std::byte*>(array.data());
  t.owner = keeper_of(array);
  return t;
}

Tensor tensor_at(std::uintptr_t address, Extents extents, const Type& type) {
  Tensor t;
  const auto [storage, size] = storage_of(type);
  t.type = type;
  t.storage = storage;
  t.extents = std::move(extents);
  t.byte_strides = contiguous_strides(t.extents);
  for (auto& s : t.byte_strides) s *= static_cast<std::int64_t>(size);
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(t.size()) * size);
  std::memcpy(bytes->data(), reinterpret_cast<const void*>(address), bytes->size());
  t.data = bytes->data();
  t.owner = std::move(bytes);
  return t;
}

py::tuple from_dlpack(py::capsule capsule) {
  if (std::strcmp(capsule.name(), "dltensor") != 0) throw py::type_error("expected an unused 'dltensor' capsule");
  auto* managed = static_cast<DlManaged*>(capsule.get_pointer());
  const DlTensor& t = managed->tensor;
  // 1: processor memory, 3 and 11: memory pinned for CUDA or ROCm, 13: managed by CUDA.
  if (t.device_type != 1 && t.device_type != 3 && t.device_type != 11 && t.device_type != 13) {
    throw py::type_error("the array lies on a device; move it to the processor first");
  }
  const std::string type = dlpack_type(t.code, t.bits);
  if (type.empty() || t.lanes != 1 || (t.code != 6 && !find_type(type))) {
    const std::string what = "code " + std::to_string(t.code) + ", " + std::to_string(t.bits) + " bits, " + std::to_string(t.lanes) + " lanes";
    throw py::type_error("this element type of DLPack is not supported (" + what + ")");
  }
  const py::dtype dtype(plain_dtype(type, t.bits));
  std::vector<py::ssize_t> shape(t.shape, t.shape + t.rank), strides;
  if (t.strides) {
    for (std::int32_t k = 0; k < t.rank; ++k) strides.push_back(t.strides[k] * dtype.itemsize());
  }
  const auto* data = static_cast<const std::byte*>(t.data) + t.byte_offset;
  const py::array view(dtype, shape, strides, data, py::none());  // `none` as base: a view, copied before the capsule goes
  py::array copy = view.attr("copy")("C");
  capsule.set_name("used_dltensor");
  if (managed->deleter) managed->deleter(managed);
  return py::make_tuple(copy, type);
}

Tensor stored(const Tensor& t, const Format& format, const Rounding& rounding) {
  if (t.is_complex()) return Tensor::complex(stored(t.real_part(), format, rounding), stored(t.imag_part(), format, rounding));
  std::vector<double> values(static_cast<std::size_t>(t.size()));
  for (std::int64_t i = 0; i < t.size(); ++i) values[static_cast<std::size_t>(i)] = rounded(t, i, format, rounding);
  return Tensor::of(Type::of(format), t.extents, values);
}

py::tuple shape_tuple(const Extents& extents) {
  py::tuple shape(extents.size());
  for (std::size_t k = 0; k < extents.size(); ++k) shape[k] = extents[k];
  return shape;
}

Format format_of(const std::string& name) {
  if (const Format* named = find_format(name)) return *named;
  if (name.starts_with("float<")) {  // as in a spec: the parser knows its parameters and its errors
    const auto graph = parse("round<" + name + ">(x)", "<format>")->spec().lower({{"x", {Type::real(), {}}}});
    return *(*graph)[graph->results.at(0).node].attributes.format;
  }
  std::string what = "unknown format `" + name + "`";
  if (const std::string near = did_you_mean(name, format_names()); !near.empty()) what += "; did you mean `" + near + "`?";
  throw Error(std::move(what));
}

std::size_t code_bytes(const Format& f) { return (static_cast<std::size_t>(f.width()) + 7) / 8; }

Type type_of(const std::string& name) {
  if (const auto type = find_type(name)) return *type;
  constexpr std::string_view head = "complex<";
  if (name.starts_with(head) && name.ends_with('>')) return Type::complex(Type::of(format_of(name.substr(head.size(), name.size() - head.size() - 1))));
  return Type::of(format_of(name));
}

}  // namespace erx
