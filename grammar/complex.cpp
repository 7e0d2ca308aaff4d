// Complex numbers: their constructor, where a real number stands for one, and what no single rounding can be.
#include "ops/complex.hpp"

#include <algorithm>

#include "grammar/lower.hpp"

namespace erx {

Value Lowering::complex(const Syntax& s, const Manner& mode) {
  const bool rounds = s[0].size() > 0;  // complex<f32>(z): both parts rounded once
  Attributes attributes;
  if (rounds) attributes.format = format_of_head(s);
  const bool ok = !rounds || rounding(s[0], 1, attributes);
  Arguments given = arguments(s, {}, rounds ? 1 : 2, 2);
  std::vector<Value> values;
  for (const Syntax* p : given.positional) values.push_back(expression(*p, mode));
  Value v = Value::unknown(span(s));
  if (!given.ok) return v;
  if (!ok || (rounds && !attributes.format)) {
    is_complete = false;
    return v;
  }
  if (values.size() == 2) {
    v.node = exactly(op("complex"), values, {}, span(s));
  } else {
    v.node = values[0].node;
    if (v.node) v = as_declared(v, Type::complex(Type::real()));
  }
  if (rounds && v.node) {
    v.node = build(op("round"), {*v.node}, attributes, {v.at}, span(s));
    return v;
  }
  v.wide_as(values);
  return v;
}

Value Lowering::as_declared(Value v, const Type& declared) {
  if (v.node && declared.is_complex && !is_complex(v) && !graph[*v.node].type.is_boolean()) v.node = erx::as_complex(graph, *v.node, v.at);
  return v;
}

bool Lowering::refuse_complex(const Op& op, const std::vector<Value>& values, const Span& at, const Manner& mode) {
  if (mode.kind == Manner::Kind::exact) return false;
  const bool divides = op.complex == on_complex::quotient && is_complex(values.back());
  const bool multiplies = op.complex == on_complex::product && mode.kind == Manner::Kind::rounded;
  if (!divides && !multiplies) return false;
  const std::string symbol(op.symbol);
  const std::string where = (mode.kind == Manner::Kind::rounded ? "in " + mode.format.name + " { }" : "within<" + mode.format.name + ">( )");
  Diagnostic d{at, "`" + symbol + "` of complex numbers is several operations, and `" + where + "` has to know which",
               "write the parts, or exact( ) around it"};
  d.notes.push_back({{}, multiplies ? "as in complex(real(a) * real(b) - imag(a) * imag(b), real(a) * imag(b) + imag(a) * real(b))"
                                    : "libraries divide in different ways; write the one that is meant with real( ) and imag( )"});
  error(std::move(d));
  return true;
}

const Syntax* Lowering::format_word(const Syntax& what) const {
  if (!what.is(Form::head) || what.text != "complex") return &what;
  return what[0].size() == 1 ? &what[0][0] : nullptr;
}

}  // namespace erx
