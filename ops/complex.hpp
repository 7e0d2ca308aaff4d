// Complex numbers are pairs of real nodes: an op on them says which real ops make its two parts, so every rule of sets, sums and
// roundings is that of real numbers. A complex node is `complex(re, im)`, an input, or a choice (any_of), which keeps both parts of
// an alternative together. A named one is a stored tensor: its parts are real(y) and imag(y), not what they were made of.
//   Row{.name = "mul", ..., .complex = on_complex::product}     auto [re, im] = parts_of(graph, z);
#pragma once
#include "ops/op.hpp"

namespace erx {

struct ComplexParts {
  NodeId re, im;
};

/// Of a real node: itself and zeros of its shape.
ComplexParts parts_of(Graph&, NodeId, const Span& = {});

/// The complex node of two real ones, broadcast against each other. A real one by itself: pair(g, x, zeros).
NodeId pair(Graph&, NodeId re, NodeId im, const Span& = {});
NodeId as_complex(Graph&, NodeId, const Span& = {});  // real numbers with zeros for imaginary parts

/// An exact scalar parameter, or a part of one.
bool is_scalar_parameter(const Graph&, NodeId);

/// Appends one node after its rules, whatever its operands are.
NodeId build_plain(Graph&, const Op&, std::vector<NodeId> operands, Attributes = {}, Span = {});

/// Rules that rows share; each has the form of ComplexRule.
namespace on_complex {

NodeId parts(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);     // on each part alone
NodeId accumulated(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);  // on each part; kernels take both products of a term in turn
NodeId product(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);   // (ac - bd, ad + bc); a real factor scales both
NodeId quotient(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);  // by the textbook formula
NodeId both(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);      // of two comparisons
NodeId either(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);
NodeId magnitude(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);
NodeId choice(Graph&, const Op&, const std::vector<NodeId>&, const Attributes&, const Span&);    // one choice for both parts

}  // namespace on_complex
}  // namespace erx
