// Gradients of elementwise rows. source: the derivative of each function; PyTorch for equal operands of maximum and clamp.
#include "ops/gradients.hpp"

namespace erx::gradients {

using B = GradientBuilder;

namespace {

NodeId times(B& b, NodeId x, NodeId y) { return b.call("mul", {x, y}); }
NodeId over(B& b, NodeId x, NodeId y) { return b.call("div", {x, y}); }
NodeId log_of(B& b, const char* base) { return b.call("log", {b.number(base)}); }
NodeId minus_from_one(B& b, NodeId x) { return b.call("sub", {b.number("1"), x}); }

/// up where operand k wins, half of it where both are equal.
NodeId shared(B& b, NodeId node, NodeId up, std::size_t k, const char* wins, bool drops_nan) {
  const NodeId own = b.operand(node, k), other = b.operand(node, 1 - k);
  NodeId won = b.call(wins, {own, other});
  if (drops_nan) won = b.call("or", {won, b.call("ne", {other, other})});
  return b.call("where", {won, up, b.kept_if(b.call("eq", {own, other}), over(b, up, b.number("2")))});
}

}  // namespace

Flow none(B&, NodeId, NodeId, std::size_t) { return {}; }
Flow add(B&, NodeId, NodeId up, std::size_t) { return up; }
Flow sub(B& b, NodeId, NodeId up, std::size_t k) { return k == 0 ? up : b.call("neg", {up}); }
Flow mul(B& b, NodeId node, NodeId up, std::size_t k) { return times(b, up, b.operand(node, 1 - k)); }
Flow div(B& b, NodeId node, NodeId up, std::size_t k) {
  const NodeId x = b.operand(node, 0), y = b.operand(node, 1);
  if (k == 0) return over(b, up, y);
  return b.call("neg", {over(b, times(b, up, x), times(b, y, y))});
}
Flow fma(B& b, NodeId node, NodeId up, std::size_t k) { return k == 2 ? up : times(b, up, b.operand(node, 1 - k)); }
Flow mod(B& b, NodeId node, NodeId up, std::size_t k) {
  if (k == 0) return up;
  return b.call("neg", {times(b, up, b.call("floordiv", {b.operand(node, 0), b.operand(node, 1)}))});
}
Flow neg(B& b, NodeId, NodeId up, std::size_t) { return b.call("neg", {up}); }
Flow abs(B& b, NodeId node, NodeId up, std::size_t) { return times(b, up, b.call("sign", {b.operand(node, 0)})); }
Flow maximum(B& b, NodeId node, NodeId up, std::size_t k) { return shared(b, node, up, k, "gt", false); }
Flow minimum(B& b, NodeId node, NodeId up, std::size_t k) { return shared(b, node, up, k, "lt", false); }
Flow fmax(B& b, NodeId node, NodeId up, std::size_t k) { return shared(b, node, up, k, "gt", true); }
Flow fmin(B& b, NodeId node, NodeId up, std::size_t k) { return shared(b, node, up, k, "lt", true); }

/// x takes all of it from lo to hi, both ends included.
Flow clamp(B& b, NodeId node, NodeId up, std::size_t k) {
  const NodeId x = b.operand(node, 0), low = b.operand(node, 1), high = b.operand(node, 2);
  if (k == 0) return b.kept_if(b.call("and", {b.call("ge", {x, low}), b.call("le", {x, high})}), up);
  if (k == 1) return b.kept_if(b.call("and", {b.call("lt", {x, low}), b.call("le", {low, high})}), up);
  return b.kept_if(b.call("gt", {b.call("maximum", {x, low}), high}), up);
}

Flow where(B& b, NodeId node, NodeId up, std::size_t k) {
  if (k == 0) return {};
  const NodeId zero = b.number("0");
  return b.call("where", {b.operand(node, 0), k == 1 ? up : zero, k == 1 ? zero : up});
}

Flow sqrt(B& b, NodeId node, NodeId up, std::size_t) { return over(b, up, times(b, b.number("2"), node)); }
Flow rsqrt(B& b, NodeId node, NodeId up, std::size_t) {
  return b.call("neg", {over(b, times(b, up, node), times(b, b.number("2"), b.operand(node, 0)))});
}
Flow exp(B& b, NodeId node, NodeId up, std::size_t) { return times(b, up, node); }
Flow exp2(B& b, NodeId node, NodeId up, std::size_t) { return times(b, times(b, up, node), log_of(b, "2")); }
Flow expm1(B& b, NodeId node, NodeId up, std::size_t) { return times(b, up, b.call("exp", {b.operand(node, 0)})); }
Flow log(B& b, NodeId node, NodeId up, std::size_t) { return over(b, up, b.operand(node, 0)); }
Flow log2(B& b, NodeId node, NodeId up, std::size_t) { return over(b, up, times(b, b.operand(node, 0), log_of(b, "2"))); }
Flow log10(B& b, NodeId node, NodeId up, std::size_t) { return over(b, up, times(b, b.operand(node, 0), log_of(b, "10"))); }
Flow log1p(B& b, NodeId node, NodeId up, std::size_t) { return over(b, up, b.call("add", {b.number("1"), b.operand(node, 0)})); }
Flow sin(B& b, NodeId node, NodeId up, std::size_t) { return times(b, up, b.call("cos", {b.operand(node, 0)})); }
Flow cos(B& b, NodeId node, NodeId up, std::size_t) { return b.call("neg", {times(b, up, b.call("sin", {b.operand(node, 0)}))}); }
Flow tanh(B& b, NodeId node, NodeId up, std::size_t) { return times(b, up, minus_from_one(b, times(b, node, node))); }
Flow erf(B& b, NodeId node, NodeId up, std::size_t) {
  const NodeId x = b.operand(node, 0), density = b.call("exp", {b.call("neg", {times(b, x, x)})});
  return times(b, up, over(b, times(b, b.number("2"), density), b.call("sqrt", {b.number("pi")})));
}
Flow sigmoid(B& b, NodeId node, NodeId up, std::size_t) { return times(b, up, times(b, node, minus_from_one(b, node))); }

Flow pow(B& b, NodeId node, NodeId up, std::size_t k) {
  const NodeId x = b.operand(node, 0), n = b.operand(node, 1);
  if (k == 1) return times(b, times(b, up, node), b.call("log", {x}));
  return times(b, times(b, up, n), b.call("pow", {x, b.call("sub", {n, b.number("1")})}));
}

}  // namespace erx::gradients
