// What is stored is given back as soon as nothing can read it again: large intermediate results would otherwise live as long as the engine.
// A stored node that is settled never looks at its operands again; one that is not may climb, for as long as it is read itself.
#include <algorithm>

#include "eval/engine.hpp"

namespace erx {
namespace {

/// Elements of what is worth it: smaller ones are not looked at. With tiles of a given size, which tests ask for, all are.
std::int64_t least_size(const EvaluateOptions& options) { return options.tile > 0 ? 1 : std::int64_t{1} << 16; }

}  // namespace

/// Plans every result, to see what is read by what; nothing is stored or planned by it.
void Engine::find_readers() {
  // Where nothing is large or free the search takes longer than it is worth.
  bool is_worth_it = options_.tile > 0;
  for (NodeId id = 0; id < graph_.size() && !is_worth_it; ++id) is_worth_it = graph_.has_freedom(id) || size_of(extents_of(graph_[id].shape)) >= 4 * least_size(options_);
  if (!is_worth_it) return;
  readers_.resize(graph_.size());
  hull_is_enough_.assign(graph_.size(), pairs_.empty());
  kept_.assign(graph_.size(), false);
  const auto wanted = wanted_, whole = whole_;
  const auto fused = fused_;
  is_finding_readers_ = true;
  const auto find = [&](NodeId root) {
    plan(root);
    hull_is_enough_[root] = false;
    kept_[root] = true;
  };
  for (const Result& r : graph_.results) find(r.node);
  for (const Assumption& a : graph_.assumptions) find(a.node);
  is_finding_readers_ = false;
  for (NodeId id = 0; id < readers_.size(); ++id) {
    auto& readers = readers_[id];
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    if (!readers.empty()) continue;  // else a root, or what has been added to be one: a result that is rounded to be stored
    hull_is_enough_[id] = false;
    kept_[id] = true;
  }
  wanted_ = wanted;
  whole_ = whole;
  fused_ = fused;
}

/// Has everything been computed that reads it, and will none of that be asked again?
bool Engine::has_been_read(NodeId id) const {
  std::vector<NodeId> pending = readers_[id];
  std::vector<bool> seen(graph_.size(), false);
  while (!pending.empty()) {
    const NodeId reader = pending.back();
    pending.pop_back();
    if (seen[reader]) continue;
    seen[reader] = true;
    const bool is_kept = kept_[reader];
    if (is_stored(reader) && stored_[reader]->tensor.settled && !(is_kept && stored_[reader]->cone)) continue;
    // A result of alternatives may be asked for each of them; what was not stored is a part of what reads it.
    if (is_kept || (readers_[reader].empty() && !is_stored(reader))) return false;
    pending.insert(pending.end(), readers_[reader].begin(), readers_[reader].end());
  }
  return true;
}

/// `last` has been stored.
void Engine::give_back(NodeId last) {
  if (last >= readers_.size() || !pairs_.empty()) return;  // the parts of a complex number are looked up in more ways
  if (!kept_[last] && stored_[last]->tensor.size() >= least_size(options_)) large_.push_back(last);
  std::erase_if(large_, [&](NodeId id) {
    if (!has_been_read(id) || (id < to_keep_.size() && to_keep_[id])) return false;
    stored_[id].reset();
    wanted_[id] = false;
    return true;
  });
}

}  // namespace erx
