// What flows into operand k of a node, `up` being what flows into the node.
//   gradients::mul      up * (the other factor)
// Where two operands of a maximum are equal, each takes half; equal largest elements of max share alike (as PyTorch's maximum
// and amax). Steps (floor, comparisons, sign) pass nothing on.
#pragma once
#include "ops/gradient.hpp"

namespace erx::gradients {

using Flow = std::optional<NodeId>;
#define ERX_GRADIENT(name) Flow name(GradientBuilder&, NodeId node, NodeId up, std::size_t k)
ERX_GRADIENT(none);
ERX_GRADIENT(add);
ERX_GRADIENT(sub);
ERX_GRADIENT(mul);
ERX_GRADIENT(div);
ERX_GRADIENT(fma);
ERX_GRADIENT(mod);
ERX_GRADIENT(neg);
ERX_GRADIENT(abs);
ERX_GRADIENT(maximum);
ERX_GRADIENT(minimum);
ERX_GRADIENT(fmax);
ERX_GRADIENT(fmin);
ERX_GRADIENT(clamp);
ERX_GRADIENT(where);
ERX_GRADIENT(sqrt);
ERX_GRADIENT(rsqrt);
ERX_GRADIENT(exp);
ERX_GRADIENT(exp2);
ERX_GRADIENT(expm1);
ERX_GRADIENT(log);
ERX_GRADIENT(log2);
ERX_GRADIENT(log10);
ERX_GRADIENT(log1p);
ERX_GRADIENT(sin);
ERX_GRADIENT(cos);
ERX_GRADIENT(tanh);
ERX_GRADIENT(erf);
ERX_GRADIENT(sigmoid);
ERX_GRADIENT(pow);
ERX_GRADIENT(sum);
ERX_GRADIENT(cumsum);
ERX_GRADIENT(extremum);
ERX_GRADIENT(prod);
ERX_GRADIENT(cumprod);
ERX_GRADIENT(matmul);
ERX_GRADIENT(reshape);
ERX_GRADIENT(transpose);
ERX_GRADIENT(broadcast);
ERX_GRADIENT(index);
ERX_GRADIENT(diagonal);
ERX_GRADIENT(concat);
#undef ERX_GRADIENT

}  // namespace erx::gradients
