#include "eval/split.hpp"

#include <algorithm>
#include <numeric>

#include "ops/complex.hpp"

namespace erx {
namespace {

class Splitter {
 public:
  Splitter(const Graph& from, const std::vector<Tensor>& inputs) : from_(from), tensors_(inputs), whole_(from.size()), parts_(from.size()) {}

  Split run() {
    graph_.name = from_.name;
    for (NodeId id = 0; id < from_.size(); ++id) copy(id);
    for (const NodeId id : from_.inputs) add_input(id);
    for (const Result& r : from_.results) graph_.results.push_back({r.name, whole_[r.node], r.declared});
    for (const Assumption& a : from_.assumptions) graph_.assumptions.push_back({whole_[a.node], a.text, a.span});
    return {std::make_shared<const Graph>(std::move(graph_)), std::move(inputs_), std::move(origin_)};
  }

 private:
  const Graph& from_;
  const std::vector<Tensor>& tensors_;
  Graph graph_;
  std::vector<NodeId> whole_;         // of every node; of a complex one its pair
  std::vector<ComplexParts> parts_;   // of complex ones
  std::vector<NodeId> origin_;
  std::vector<Tensor> inputs_;

  NodeId append(Node node, NodeId from) {
    origin_.push_back(from);
    return graph_.append(std::move(node));
  }

  void copy(NodeId id) {
    const Node& n = from_[id];
    if (n.type.is_complex) return copy_complex(id, n);
    const bool takes_apart = n.operands.size() == 1 && from_[n.operands[0]].type.is_complex;  // real(z), imag(z)
    if (takes_apart) {
      const ComplexParts z = parts_[n.operands[0]];
      whole_[id] = n.op == &op("imag") ? z.im : z.re;
      return;
    }
    Node node = n;
    for (NodeId& o : node.operands) o = whole_[o];
    whole_[id] = append(std::move(node), id);
  }

  void copy_complex(NodeId id, const Node& n) {
    if (row(n).gather == Gather::pair) {
      parts_[id] = {whole_[n.operands[0]], whole_[n.operands[1]]};
      // A stored tensor is a leaf of sums, and so are its parts.
      if (!n.name.empty()) {
        for (const NodeId p : {parts_[id].re, parts_[id].im})
          if (graph_[p].name.empty()) graph_.store(p, n.name + (p == parts_[id].re ? "_re" : "_im"));
      }
    } else {
      parts_[id] = {part(n, id, 0), part(n, id, 1)};
    }
    Node both;
    both.op = &op("complex");
    both.operands = {parts_[id].re, parts_[id].im};
    both.type = n.type;
    both.shape = n.shape;
    both.span = n.span;
    whole_[id] = append(std::move(both), id);
  }

  /// An input, or a choice whose alternatives are pairs.
  NodeId part(const Node& n, NodeId id, int which) {
    Node node = n;
    node.type = n.type.part();
    if (row(n).is_choice) node.attributes.choice = id + 1;
    for (NodeId& o : node.operands) o = which ? parts_[o].im : parts_[o].re;
    return append(std::move(node), id);
  }

  void add_input(NodeId id) {
    const Tensor& t = tensors_[static_cast<std::size_t>(std::find(from_.inputs.begin(), from_.inputs.end(), id) - from_.inputs.begin())];
    if (!from_[id].type.is_complex) {
      graph_.inputs.push_back(whole_[id]);
      inputs_.push_back(t);
      return;
    }
    graph_.inputs.push_back(parts_[id].re);
    inputs_.push_back(t.real_part());
    graph_.inputs.push_back(parts_[id].im);
    inputs_.push_back(t.imag_part());
  }
};

}  // namespace

Split split_complex(std::shared_ptr<const Graph> graph, std::vector<Tensor> inputs) {
  bool any = false;
  for (NodeId id = 0; id < graph->size(); ++id) any |= (*graph)[id].type.is_complex;
  if (any) return Splitter(*graph, inputs).run();
  std::vector<NodeId> same(graph->size());
  std::iota(same.begin(), same.end(), NodeId{0});
  return {std::move(graph), std::move(inputs), std::move(same)};
}

}  // namespace erx
