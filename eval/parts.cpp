#include "eval/parts.hpp"

#include <algorithm>

#include "eval/evaluation_state.hpp"
#include "eval/float_guard.hpp"
#include "ir/loop.hpp"

namespace erx {

/// Everything, kept by the evaluation.
class Evaluation::Parts::Whole : public At {
 public:
  explicit Whole(Parts& parts) : parts_(parts) {}
  const SetTensor& result(std::size_t k) override { return parts_.evaluation_.result(parts_.results_[k], parts_.stores_[k], parts_.run_); }
  Alternatives alternatives(std::size_t k, std::int64_t flat) override {
    return parts_.evaluation_.alternatives(parts_.results_[k], parts_.stores_[k], parts_.run_, flat);
  }

 private:
  Parts& parts_;
};

/// A section with a graph, inputs and an engine of its own.
class Evaluation::Parts::Cut : public At {
 public:
  /// `before`: some of whose nodes may be the same; nullptr: none. `counted`: in the counters of the evaluation.
  Cut(Parts& parts, const Section& section, const Cut* before, bool counted)
      : parts_(parts),
        part_(parts.sectioning_->part(section)),
        engine_(part_.graph, part_.inputs, parts.state().options, parts.state().branches(parts.run_)),
        counted_(counted) {
    std::vector<bool> to_keep;  // all of the first axis is in it
    for (const auto& of : part_.of_node) to_keep.push_back(of.size() < section.ranges.size());
    engine_.is_part_of(*parts.state().split.graph, std::move(to_keep));
    bool has_loop = false;  // whose states are taken from it while it is at hand
    for (NodeId id = 0; id < part_.of_node.size(); ++id) has_loop |= is_fold(part_.graph[id]);
    for (NodeId id = 0; before && id < part_.of_node.size(); ++id)
      if (part_.of_node[id] == before->part_.of_node[id] && (!has_loop || part_.graph[id].operands.empty())) engine_.adopt(before->engine_, id);
  }
  const SetTensor& result(std::size_t k) override {
    const FloatGuard guard;
    const Counters before = engine_.counters;
    const SetTensor& sets = engine_.ensure(result_node(engine_, k, parts_.stores_[k])).tensor;
    if (counted_) parts_.state().counters += engine_.counters - before;
    return sets;
  }
  Alternatives alternatives(std::size_t k, std::int64_t flat) override {
    const FloatGuard guard;
    return parts_.state().named(engine_.alternatives(result_node(engine_, k, parts_.stores_[k]), flat));
  }

 private:
  Parts& parts_;
  Part part_;
  Engine engine_;
  bool counted_;
};

Evaluation::Parts::Parts(Evaluation& evaluation, std::vector<std::size_t> results, std::vector<std::optional<Format>> stores, std::size_t run)
    : evaluation_(evaluation), results_(std::move(results)), stores_(std::move(stores)), run_(run), whole_(std::make_unique<Whole>(*this)) {
  if (results_.empty() || is_evaluated()) return;
  auto sectioning = std::make_unique<Sectioning>(*state().split.graph, state().split.inputs, results_, state().options);
  if (sectioning->sections().size() < 2) return;
  sections_ = sectioning->sections();
  sectioning_ = std::move(sectioning);
}

Evaluation::Parts::~Parts() = default;

bool Evaluation::Parts::is_evaluated() const {
  const auto& runs = evaluation_.state_->runs;
  if (run_ >= runs.size() || !runs[run_]) return false;
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (!has_result(*runs[run_], results_[k], stores_[k])) return false;
  return true;
}

Evaluation::Parts::At& Evaluation::Parts::at(const Section& section) {
  if (!sectioning_) return *whole_;
  auto next = std::make_unique<Cut>(*this, section, cut_.get(), true);
  cut_ = std::move(next);  // the sets before are given back before these are made
  return *cut_;
}

Evaluation::Parts::Element Evaluation::Parts::element(std::size_t k, std::int64_t flat) {
  if (!sectioning_) return {*whole_, flat};
  const Extents whole = extents_of(evaluation_.graph()[evaluation_.graph().results[results_[k]].node].shape);
  const Section around = sectioning_->around(whole, flat);
  if (close_to_ != std::pair{k, flat}) close_ = std::make_unique<Cut>(*this, around, close_ ? close_.get() : cut_.get(), false);
  close_to_ = {k, flat};
  return {*close_, around.inside(flat, whole)};
}

}  // namespace erx
