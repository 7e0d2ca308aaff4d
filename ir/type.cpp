#include "ir/type.hpp"

#include <cmath>

namespace erx {
namespace {

/// Is every integer of `t` a value of `f`?
bool holds_integers(const Format& f, const Type& t) {
  if (t.bits == 0 || !f.has_zero || (t.is_signed && !f.has_sign)) return false;
  const int magnitude_bits = t.is_signed ? t.bits - 1 : t.bits;  // -2^(bits-1) is a power of two
  const double largest = std::ldexp(1.0, magnitude_bits) - (t.is_signed ? 0 : 1);
  return f.precision() >= magnitude_bits && f.min_positive() <= 1 && f.max_finite() >= largest;
}

}  // namespace

bool Type::operator==(const Type& o) const {
  if (kind != o.kind || is_complex != o.is_complex) return false;
  if (kind == Kind::floating) return format == o.format;
  if (kind == Kind::integer) return bits == o.bits && (bits == 0 || is_signed == o.is_signed);
  return true;
}

std::string to_string(const Type& t) {
  if (t.is_complex) return t.is_real() ? "complex" : "complex<" + to_string(t.part()) + ">";
  switch (t.kind) {
    case Kind::real: return "real";
    case Kind::floating: return t.format.name;
    case Kind::integer: return t.bits == 0 ? "int" : (t.is_signed ? "i" : "u") + std::to_string(t.bits);
    case Kind::boolean: return "bool";
  }
  return {};
}

std::optional<Type> find_type(std::string_view name) {
  if (name == "real") return Type::real();
  if (name == "int") return Type::integer();
  if (name == "bool") return Type::boolean();
  if (const Format* f = find_format(name)) return Type::of(*f);
  for (int bits : {8, 16, 32, 64})
    for (bool is_signed : {true, false})
      if (name == (is_signed ? "i" : "u") + std::to_string(bits) || name == (is_signed ? "int" : "uint") + std::to_string(bits))
        return Type::integer(bits, is_signed);
  if (name == "complex") return Type::complex(Type::real());
  if (name == "complex32") return Type::complex(Type::of(*find_format("f16")));
  if (name == "complex64") return Type::complex(Type::of(*find_format("f32")));
  if (name == "complex128") return Type::complex(Type::of(*find_format("f64")));
  constexpr std::string_view head = "complex<";
  if (name.substr(0, head.size()) == head && name.back() == '>') {
    if (const Format* f = find_format(name.substr(head.size(), name.size() - head.size() - 1))) return Type::complex(Type::of(*f));
  }
  return {};
}

bool contains(const Type& outer, const Type& inner) {
  if (outer.is_boolean() || inner.is_boolean()) return outer.is_boolean() && inner.is_boolean();
  if (inner.is_complex && !outer.is_complex) return false;
  if (outer.is_real()) return true;
  if (inner.is_real()) return false;
  if (outer.is_floating()) return inner.is_floating() ? contains(outer.format, inner.format) : holds_integers(outer.format, inner);
  if (!inner.is_integer()) return false;
  if (outer.bits == 0 || inner.bits == 0) return outer.bits == 0;
  if (outer.is_signed == inner.is_signed) return outer.bits >= inner.bits;
  return outer.is_signed && outer.bits > inner.bits;
}

Type join(const Type& a, const Type& b) {
  if (contains(a, b)) return a;
  if (contains(b, a)) return b;
  return a.is_complex || b.is_complex ? Type::complex(join(a.part(), b.part())) : Type::real();
}

}  // namespace erx
