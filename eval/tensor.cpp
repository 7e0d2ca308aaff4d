#include "eval/tensor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "ops/clones.hpp"
#include "ops/num/big.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"

namespace erx {
namespace {

static_assert(std::endian::native == std::endian::little, "codes are read as little-endian integers");

template <class T>
T load(const std::byte* p) {  // elements need not be aligned
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::uint64_t load_code(const std::byte* p, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, bytes);
  return bits;
}

std::size_t code_bytes(const Format& f) { return (static_cast<std::size_t>(f.width()) + 7) / 8; }

// A format's codes as doubles: ordinary codes by arithmetic, the rest by `erx::decode`.
struct Decoder {
  explicit Decoder(const Format& f)
      : format(f),
        bytes(code_bytes(f)),
        fraction_mask((std::uint64_t{1} << f.fraction_bits) - 1),
        exponent_mask((std::uint64_t{1} << f.exponent_bits) - 1),
        sign_shift(f.exponent_bits + f.fraction_bits),
        to_double(1023 - f.bias),
        // Below 0, or past 2046, the double itself would be subnormal or infinite.
        plain(1 + to_double > 0 && static_cast<std::int64_t>(exponent_mask) + to_double < 2047) {}

  double operator()(std::uint64_t bits) const {
    const std::uint64_t e = bits >> format.fraction_bits & exponent_mask;
    if (!plain || e == 0 || e == exponent_mask) return erx::decode(format, bits);
    const std::uint64_t m = bits & fraction_mask;
    const std::uint64_t sign = format.has_sign ? bits >> sign_shift & 1 : 0;
    return std::bit_cast<double>(sign << 63 | (e + static_cast<std::uint64_t>(to_double)) << 52 | m << (52 - format.fraction_bits));
  }

  /// Special values have the greatest exponent and no other codes are special.
  bool is_ieee() const {
    return plain && format.has_sign && format.has_subnormals && format.has_infinity() && format.has_zero && format.nans == Nans::ieee &&
           sign_shift == 15 && to_double <= 1022;
  }
  /// The codes are the leading bits of those of float32, special values included.
  bool is_head_of_float32() const {
    return format.exponent_bits == 8 && format.bias == 127 && format.has_sign && format.has_subnormals && format.has_infinity() &&
           format.has_zero && format.nans == Nans::ieee && sign_shift == 8 + format.fraction_bits && format.fraction_bits <= 23;
  }

  const Format& format;
  std::size_t bytes;
  std::uint64_t fraction_mask, exponent_mask;
  int sign_shift, to_double;
  bool plain;
};

/// The values of all codes of a format of at most 8 bits, kept for the next tensor of it.
using CodeTable = std::array<double, 256>;
const CodeTable* code_table(const Format& f) {
  struct Entry {
    Format format;
    std::unique_ptr<const CodeTable> table;
  };
  static std::shared_mutex mutex;
  static std::vector<Entry>& entries = *new std::vector<Entry>;  // never destroyed, like threads that may still read
  constexpr std::size_t most = 64;
  const auto find = [&] {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.format == f; });
    return found == entries.end() ? nullptr : found->table.get();
  };
  {
    const std::shared_lock lock(mutex);
    if (const CodeTable* known = find()) return known;
    if (entries.size() >= most) return nullptr;
  }
  auto table = std::make_unique<CodeTable>();
  const Decoder value(f);
  for (std::size_t code = 0; code < table->size(); ++code) (*table)[code] = value(code & ((std::size_t{1} << f.width()) - 1));
  const std::unique_lock lock(mutex);
  if (const CodeTable* known = find()) return known;
  entries.push_back({f, std::move(table)});
  return entries.back().table.get();
}

// Runs of elements side by side.
ERX_VECTOR_CLONES void widen_float32(const std::byte* p, std::int64_t n, double* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<double>(load<float>(p + 4 * i));
}
ERX_VECTOR_CLONES void widen_head_of_float32(const std::byte* p, std::int64_t n, int shift, double* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(p + 2 * i)) << shift));
}
/// Codes of an IEEE format of 16 bits: the magnitude is the bits of a double once its exponent is moved. A subnormal has the exponent of the
/// smallest normal number and a leading bit too many, which is subtracted: no double in between is subnormal, which would be slow.
ERX_VECTOR_CLONES void widen_ieee(const std::byte* p, std::int64_t n, const Decoder& decoder, double* out) {
  const int fraction_bits = decoder.format.fraction_bits;
  const std::uint64_t moved = static_cast<std::uint64_t>(decoder.to_double) << 52, one = std::uint64_t{1} << 52;
  const std::uint64_t least_normal = std::uint64_t{1} << fraction_bits, least_special = decoder.exponent_mask << fraction_bits;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t code = load<std::uint16_t>(p + 2 * i), magnitude = code & 0x7fff;
    const std::uint64_t special = -static_cast<std::uint64_t>(magnitude >= least_special) & 0x7ff0000000000000u;
    const std::uint64_t subnormal = -static_cast<std::uint64_t>(magnitude < least_normal);
    const double value = std::bit_cast<double>((magnitude << (52 - fraction_bits)) + moved + (one & subnormal)) - std::bit_cast<double>((moved + one) & subnormal);
    out[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | special | (code >> 15) << 63);
  }
}

bool is_contiguous(const Tensor& t, std::int64_t size) {
  for (std::size_t k = t.extents.size(); k-- > 0; size *= t.extents[k])
    if (t.byte_strides[k] != size) return false;
  return true;
}

// Calls run(i, address, n) for runs of n elements side by side, or visit(i, address) for each, in C order. `size`: of an element.
template <class Run, class Visit>
void walk(const Tensor& t, std::int64_t first, std::int64_t count, std::int64_t size, Run run_of, Visit visit) {
  if (count <= 0) return;
  const std::size_t rank = t.extents.size();
  if (rank == 0) return visit(0, t.data);
  if (is_contiguous(t, size)) return run_of(0, t.data + first * size, count);
  Extents index(rank);
  std::int64_t rest = first;
  for (std::size_t k = rank; k-- > 0;) {
    index[k] = rest % t.extents[k];
    rest /= t.extents[k];
  }
  const std::byte* p = t.data;
  for (std::size_t k = 0; k < rank; ++k) p += index[k] * t.byte_strides[k];
  for (std::int64_t i = 0;;) {
    const std::int64_t run = std::min(count - i, t.extents[rank - 1] - index[rank - 1]);
    const std::int64_t step = t.byte_strides[rank - 1];
    if (step == size) {
      run_of(i, p, run);
      p += step * run;
    } else {
      for (std::int64_t j = 0; j < run; ++j, p += step) visit(i + j, p);
    }
    i += run;
    if (i == count) return;
    p -= step * t.extents[rank - 1];
    index[rank - 1] = 0;
    for (std::size_t k = rank - 1; k-- > 0;) {
      p += t.byte_strides[k];
      if (++index[k] < t.extents[k]) break;
      p -= t.byte_strides[k] * t.extents[k];
      index[k] = 0;
    }
  }
}

template <class Visit>
void walk(const Tensor& t, std::int64_t first, std::int64_t count, std::size_t size, Visit visit) {
  const auto step = static_cast<std::int64_t>(size);
  walk(t, first, count, step, [&](std::int64_t i, const std::byte* p, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) visit(i + j, p + j * step);
  }, visit);
}

template <class T>
void decode_as(const Tensor& t, std::int64_t first, std::int64_t count, double* out) {
  walk(t, first, count, sizeof(T), [out](std::int64_t i, const std::byte* p) { out[i] = static_cast<double>(load<T>(p)); });
}

Tensor owning(Type type, Storage storage, Extents extents, std::size_t element_size, std::vector<std::byte> bytes) {
  Tensor t;
  t.type = std::move(type);
  t.storage = storage;
  t.byte_strides = contiguous_strides(extents);
  for (auto& s : t.byte_strides) s *= static_cast<std::int64_t>(element_size);
  t.extents = std::move(extents);
  auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  t.data = owner->data();
  t.owner = std::move(owner);
  return t;
}

template <class T>
Tensor one(Type type, Storage storage, T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return owning(std::move(type), storage, {}, sizeof value, std::move(bytes));
}

// Does the exact decimal or fraction denote 0?
bool is_zero_text(std::string_view text) {
  for (char c : text) {
    if (c == 'e' || c == 'E' || c == '/') return true;
    if (c >= '1' && c <= '9') return false;
  }
  return true;
}

template <class R>
Set<R> set_of(double x, Context context) {
  if (std::isnan(x)) return Set<R>::special(has_nan);
  if (std::isinf(x)) return Set<R>::special(x > 0 ? has_pinf : has_ninf);
  const std::uint8_t zero = x != 0 ? 0 : std::signbit(x) ? has_nzero : has_pzero;
  return Set<R>::point(R::exact(x, context), zero);
}

// A wide integer that no double holds goes through its decimal text.
template <class R, class Int>
Set<R> set_of_integer(Int value, Context context) {
  constexpr Int limit = Int{1} << 53;
  bool is_double = value <= limit;
  if constexpr (std::is_signed_v<Int>) is_double = is_double && value >= -limit;
  if (is_double) return set_of<R>(static_cast<double>(value), context);
  return Set<R>::point(R::literal(std::to_string(value), context));
}

}  // namespace

Tensor Tensor::scalar(double x) { return one(Type::real(), Storage::f64, x); }

Tensor Tensor::rational(std::string text) {
  Tensor t;
  t.storage = Storage::rational;
  t.text = std::move(text);
  return t;
}

Tensor Tensor::integer(std::int64_t x) { return one(Type::integer(), Storage::i64, x); }

Tensor Tensor::boolean(bool x) { return one(Type::boolean(), Storage::boolean, static_cast<std::uint8_t>(x)); }

Tensor Tensor::of(Type type, Extents extents, const std::vector<double>& values) {
  if (size_of(extents) != static_cast<std::int64_t>(values.size())) throw Bug("Tensor::of: extents and number of values differ");
  if (type.is_boolean()) {
    std::vector<std::byte> bytes(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = std::byte{values[i] != 0};
    return owning(std::move(type), Storage::boolean, std::move(extents), 1, std::move(bytes));
  }
  std::vector<std::byte> bytes(values.size() * sizeof(double));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return owning(std::move(type), Storage::f64, std::move(extents), sizeof(double), std::move(bytes));
}

Tensor Tensor::complex(Tensor re, Tensor im) {
  if (re.extents != im.extents) throw Bug("the parts of a complex tensor differ in shape");
  re.type = Type::complex(join(re.type, im.type));
  re.imag = std::make_shared<const Tensor>(std::move(im));
  return re;
}

Tensor Tensor::real_part() const {
  if (!is_complex()) return *this;
  Tensor t = *this;
  t.imag = nullptr;
  t.type = type.part();
  return t;
}

Tensor Tensor::imag_part() const {
  if (is_complex()) {
    Tensor t = *imag;
    t.type = type.part();
    return t;
  }
  Tensor zero = one(type.is_boolean() ? Type::integer() : type, Storage::f64, 0.0);
  zero.extents = extents;
  zero.byte_strides.assign(extents.size(), 0);
  return zero;
}

const std::byte* Tensor::address(std::int64_t flat) const {
  const std::byte* p = data;
  for (std::size_t k = extents.size(); k-- > 0;) {
    p += flat % extents[k] * byte_strides[k];
    flat /= extents[k];
  }
  return p;
}

double Tensor::at(std::int64_t flat) const {
  const std::byte* p = storage == Storage::rational ? nullptr : address(flat);
  switch (storage) {
    case Storage::f64: return load<double>(p);
    case Storage::f32: return load<float>(p);
    case Storage::code: return erx::decode(type.format, load_code(p, code_bytes(type.format)));
    case Storage::i8: return load<std::int8_t>(p);
    case Storage::i16: return load<std::int16_t>(p);
    case Storage::i32: return load<std::int32_t>(p);
    case Storage::i64: return static_cast<double>(load<std::int64_t>(p));
    case Storage::u8: return load<std::uint8_t>(p);
    case Storage::u16: return load<std::uint16_t>(p);
    case Storage::u32: return load<std::uint32_t>(p);
    case Storage::u64: return static_cast<double>(load<std::uint64_t>(p));
    case Storage::boolean: return load<std::uint8_t>(p) != 0;
    case Storage::rational: break;
  }
  throw Bug("Tensor::at of a rational number");
}

void Tensor::decode(std::int64_t first, std::int64_t count, double* out) const {
  switch (storage) {
    case Storage::f64:
      return walk(*this, first, count, 8, [out](std::int64_t i, const std::byte* p, std::int64_t n) { std::memcpy(out + i, p, static_cast<std::size_t>(n) * 8); },
                  [out](std::int64_t i, const std::byte* p) { out[i] = load<double>(p); });
    case Storage::f32:
      return walk(*this, first, count, 4, [out](std::int64_t i, const std::byte* p, std::int64_t n) { widen_float32(p, n, out + i); },
                  [out](std::int64_t i, const std::byte* p) { out[i] = static_cast<double>(load<float>(p)); });
    case Storage::i8: return decode_as<std::int8_t>(*this, first, count, out);
    case Storage::i16: return decode_as<std::int16_t>(*this, first, count, out);
    case Storage::i32: return decode_as<std::int32_t>(*this, first, count, out);
    case Storage::i64: return decode_as<std::int64_t>(*this, first, count, out);
    case Storage::u8: return decode_as<std::uint8_t>(*this, first, count, out);
    case Storage::u16: return decode_as<std::uint16_t>(*this, first, count, out);
    case Storage::u32: return decode_as<std::uint32_t>(*this, first, count, out);
    case Storage::u64: return decode_as<std::uint64_t>(*this, first, count, out);
    case Storage::boolean:
      return walk(*this, first, count, 1, [out](std::int64_t i, const std::byte* p) { out[i] = *p != std::byte{0}; });
    case Storage::code: {
      const Decoder value(type.format);
      if (value.bytes == 2 && (value.is_head_of_float32() || value.is_ieee())) {
        const bool is_head = value.is_head_of_float32();
        const int shift = 23 - type.format.fraction_bits;
        const auto run = [&](std::int64_t i, const std::byte* p, std::int64_t n) {
          if (is_head) widen_head_of_float32(p, n, shift, out + i);
          else widen_ieee(p, n, value, out + i);
        };
        return walk(*this, first, count, 2, run, [&](std::int64_t i, const std::byte* p) { run(i, p, 1); });
      }
      if (const CodeTable* table = value.bytes == 1 && count >= 64 ? code_table(type.format) : nullptr)
        return walk(*this, first, count, 1, [&](std::int64_t i, const std::byte* p) { out[i] = (*table)[static_cast<std::uint8_t>(*p)]; });
      // A constant width lets the compiler turn the load into one instruction.
      if (value.bytes == 2) return walk(*this, first, count, 2, [&](std::int64_t i, const std::byte* p) { out[i] = value(load<std::uint16_t>(p)); });
      return walk(*this, first, count, value.bytes, [&](std::int64_t i, const std::byte* p) { out[i] = value(load_code(p, value.bytes)); });
    }
    case Storage::rational: break;
  }
  throw Bug("Tensor::decode of a rational number");
}

std::optional<Elements> Tensor::elements() const {
  Elements e;
  if (storage == Storage::f32) {
    e.kind = Elements::Kind::f32;
  } else if (storage == Storage::code) {
    const Decoder value(type.format);
    if (value.bytes != 2 || !(value.is_head_of_float32() || value.is_ieee())) return {};
    e = {value.is_head_of_float32() ? Elements::Kind::head_of_f32 : Elements::Kind::ieee16, type.format.fraction_bits, value.to_double};
  } else if (storage != Storage::f64) {
    return {};
  }
  return is_contiguous(*this, e.bytes()) ? std::optional(e) : std::nullopt;
}

template <class R>
Set<R> Tensor::element(std::int64_t flat, Context context) const {
  switch (storage) {
    case Storage::rational: return Set<R>::point(R::literal(text, context), is_zero_text(text) ? has_pzero : 0);
    case Storage::i64: return set_of_integer<R>(load<std::int64_t>(address(flat)), context);
    case Storage::u64: return set_of_integer<R>(load<std::uint64_t>(address(flat)), context);
    default: return set_of<R>(at(flat), context);
  }
}

template Set<F64> Tensor::element(std::int64_t, Context) const;
template Set<Big> Tensor::element(std::int64_t, Context) const;
template Set<Exact> Tensor::element(std::int64_t, Context) const;

}  // namespace erx
