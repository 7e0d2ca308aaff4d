#include "eval/split.hpp"

#include <numeric>

#include "ir/loop.hpp"
#include "ops/complex.hpp"

namespace erx {
namespace {

bool has_complex(const Graph& graph) {
  for (NodeId id = 0; id < graph.size(); ++id)
    if (graph[id].type.is_complex || (is_fold(graph[id]) && has_complex(graph[id].attributes.loop->body))) return true;
  return false;
}

class Splitter {
 public:
  explicit Splitter(const Graph& from) : from_(from), whole_(from.size()), parts_(from.size()) {}

  Split run(const std::vector<Tensor>& inputs) {
    copy_all();
    Split split;
    for (std::size_t k = 0; k < from_.inputs.size(); ++k) add_input(inputs[k], from_[from_.inputs[k]].type.is_complex, split.inputs);
    split.graph = std::make_shared<const Graph>(std::move(graph_));
    split.origin = std::move(origin_);
    return split;
  }

  /// The body of a loop: two inputs for each complex one, and a pair for each complex state.
  Graph body() {
    copy_all();
    return std::move(graph_);
  }

 private:
  const Graph& from_;
  Graph graph_;
  std::vector<NodeId> whole_;         // of every node; of a complex one its pair
  std::vector<ComplexParts> parts_;   // of complex ones
  std::vector<NodeId> origin_;

  void copy_all() {
    graph_.name = from_.name;
    for (NodeId id = 0; id < from_.size(); ++id) copy(id);
    for (const NodeId id : from_.inputs) {
      if (!from_[id].type.is_complex) {
        graph_.inputs.push_back(whole_[id]);
        continue;
      }
      graph_.inputs.push_back(parts_[id].re);
      graph_.inputs.push_back(parts_[id].im);
    }
    for (const Result& r : from_.results) graph_.results.push_back({r.name, whole_[r.node], r.declared});
    for (const Assumption& a : from_.assumptions) graph_.assumptions.push_back({whole_[a.node], a.text, a.span});
  }

  NodeId append(Node node, NodeId from) {
    origin_.push_back(from);
    return graph_.append(std::move(node));
  }

  void copy(NodeId id) {
    const Node& n = from_[id];
    if (is_fold(n)) return copy_fold(id, n);
    if (is_state(n)) return copy_state(id, n);
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
    join(id, n);
  }

  void join(NodeId id, const Node& n) {
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

  void copy_fold(NodeId id, const Node& n) {
    Node fold = n;
    fold.operands.clear();
    for (const NodeId o : n.operands) {
      if (!from_[o].type.is_complex) {
        fold.operands.push_back(whole_[o]);
        continue;
      }
      fold.operands.push_back(parts_[o].re);
      fold.operands.push_back(parts_[o].im);
    }
    Loop loop = *n.attributes.loop;
    if (has_complex(loop.body)) loop.body = Splitter(loop.body).body();
    fold.attributes.loop = std::make_shared<const Loop>(std::move(loop));
    fold.type = n.type.part();
    const NodeId first = append(std::move(fold), id);
    give_state(id, n, first, first, 0);
  }

  void copy_state(NodeId id, const Node& n) {
    const NodeId fold = n.operands[0];
    const Loop& whole = *from_[fold].attributes.loop;
    std::int64_t before = 0;  // values of the states before this one
    for (std::size_t k = 0; k < static_cast<std::size_t>(n.attributes.axes[0]); ++k) before += whole.body[whole.body.results[k].node].type.is_complex ? 2 : 1;
    const NodeId first = from_[fold].type.is_complex ? parts_[fold].re : whole_[fold];
    give_state(id, n, first, state(id, n, first, before), before);
  }

  NodeId state(NodeId id, const Node& n, NodeId fold, std::int64_t place) {
    Node node = n;
    node.op = &op("state");
    node.operands = {fold};
    node.attributes = {};
    node.attributes.axes = {place};
    node.type = n.type.part();
    return append(std::move(node), id);
  }

  void give_state(NodeId id, const Node& n, NodeId fold, NodeId re, std::int64_t place) {
    if (!n.type.is_complex) {
      whole_[id] = re;
      return;
    }
    parts_[id] = {re, state(id, n, fold, place + 1)};
    join(id, n);
  }

  static void add_input(const Tensor& t, bool is_complex, std::vector<Tensor>& to) {
    if (!is_complex) {
      to.push_back(t);
      return;
    }
    to.push_back(t.real_part());
    to.push_back(t.imag_part());
  }
};

}  // namespace

Split split_complex(std::shared_ptr<const Graph> graph, std::vector<Tensor> inputs) {
  if (has_complex(*graph)) return Splitter(*graph).run(inputs);
  std::vector<NodeId> same(graph->size());
  std::iota(same.begin(), same.end(), NodeId{0});
  return {std::move(graph), std::move(inputs), std::move(same)};
}

}  // namespace erx
