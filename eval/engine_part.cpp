// What an engine knows of the larger graph that it evaluates a part of, and what one part leaves to the next.
#include "eval/engine.hpp"

namespace erx {

std::vector<NodeId> Engine::to_store(NodeId root) {
  plan(root);
  std::vector<NodeId> all;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Tensor* tensor = input(id);
    if (wanted_[id] && (!tensor || !tensor->is_double() || whole_[id] || packed_.contains(id))) all.push_back(id);
  }
  return all;
}

void Engine::is_part_of(const Graph& whole, std::vector<bool> to_keep) {
  of_whole_ = &whole;
  to_keep_ = std::move(to_keep);
}

std::int64_t Engine::elements_in_all(NodeId id) const {
  return size_of(extents_of((of_whole_ && id < of_whole_->size() ? *of_whole_ : graph_)[id].shape));
}

void Engine::adopt(const Engine& other, NodeId id) {
  if (!other.is_stored(id)) return;
  wanted_.resize(graph_.size(), false);
  whole_.resize(graph_.size(), false);
  stored_.resize(graph_.size());
  wanted_[id] = true;
  stored_[id] = std::make_unique<Stored>(*other.stored_[id]);
  if (stored_[id]->in_place) stored_[id]->in_place = input(id);
  else whole_[id] = true;
}

}  // namespace erx
