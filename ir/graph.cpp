#include "ir/graph.hpp"

#include "ir/error.hpp"

namespace erx {

NodeId Graph::append(Node node) {
  const NodeId id = static_cast<NodeId>(nodes_.size());
  if (!node.op) throw Bug("a node without an op");
  bool freedom = node.freedom;
  for (NodeId operand : node.operands) {
    if (operand >= id) throw Bug("an operand has to precede its user");
    freedom = freedom || freedom_[operand];
  }
  nodes_.push_back(std::move(node));
  freedom_.push_back(freedom);
  return id;
}

void Graph::cut(std::size_t size) {
  while (nodes_.size() > size) nodes_.pop_back();
  freedom_.resize(size);
}

}  // namespace erx
