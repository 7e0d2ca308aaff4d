// `fold`: a bounded loop over state. Steps of one form become one node, whatever their number (ir/loop.hpp); the others are written out:
// a last tile that is short, the steps before types and shapes of the states settle, a step that depends on its number otherwise
// than by places that are linear in it, or in its quotient and rest by one number (course.hpp). Each step is lowered for itself and
// compared with the first, so one node means what the steps written out would mean.
#include "grammar/fold.hpp"
#include "grammar/words.hpp"

namespace erx {

Value Lowering::fold(const Syntax& s, const Manner& mode) { return Fold(*this, s, mode).run(); }

/// The names of the states and of the variable, and the start values.
bool Lowering::Fold::declare() {
  bool ok = true;
  const auto declare = [&](const std::string& name, const Span& where) {
    const Name* before = l_.find(name);
    if (before || declared_.count(name)) {
      l_.error(Diagnostic{where, "`" + name + "` is defined twice", "a name keeps its meaning"}.note(before ? before->declared : declared_.at(name),
                                                                                                 "first defined here"));
      ok = false;
    }
    declared_[name] = where;
  };
  for (const Syntax& one : s_[0].children) {
    declare(one.text, {l_.ast().source, one.begin, one.begin + static_cast<std::uint32_t>(one.text.size())});
    Value v = l_.expression(one[0], mode_);
    if (v.is_tuple) {
      l_.error({v.at, "a tuple where one value is expected", ""});
      ok = false;
    }
    v.product.reset();
    v.wide = {};
    v.dim.reset();
    order_.push_back(one.text);
    states_.push_back(std::move(v));
  }
  declare(variable(), l_.span(s_[1]));
  if (order_.empty()) {
    l_.error({l_.span(s_[0]), "a fold needs a state, as in fold (m = 0) over i in 0..B { ... }", ""});
    ok = false;
  }
  return ok;
}

/// The state is one stored tensor in each step.
void Lowering::Fold::enter(std::size_t k, Value v) {
  v.product.reset();
  v.wide = {};
  v.dim.reset();
  if (v.node && l_.graph[*v.node].name.empty()) l_.graph.store(*v.node, l_.unique(order_[k]));
  states_[k] = std::move(v);
}

std::optional<std::vector<Value>> Lowering::Fold::next(const std::vector<Value>& states, const Value& loop) {
  std::map<std::string, Value> names;
  for (std::size_t k = 0; k < order_.size(); ++k) names[order_[k]] = states[k];
  names[variable()] = loop;
  Value v = l_.instance(s_[3], names, declared_, mode_);
  if (order_.size() == 1 && !v.is_tuple) return v.node ? std::optional(std::vector{v}) : std::nullopt;
  if (!v.is_tuple || v.parts.size() != order_.size()) {
    if (v.is_tuple || v.node)
      l_.error({v.at, "the state has " + plural(order_.size(), "value") + ", and `next` gives " + std::to_string(v.is_tuple ? v.parts.size() : 1), ""});
    return {};
  }
  return v.parts;
}

Value Lowering::Fold::at_step(std::size_t k) const {
  const auto [start, stop] = steps_.parts[k];
  if (!steps_.are_tiles) return l_.of_dim(Dim(start), l_.span(s_[1]));
  Value tile = Value::unknown(l_.span(s_[1]));
  tile.tile = std::pair(start, stop);
  return tile;
}

Value Lowering::Fold::run() {
  const Span at = l_.span(s_);
  if (!declare()) return Value::unknown(at);
  const std::size_t before = l_.errors_.size();
  if (auto all = l_.steps(s_[2])) {
    steps_ = std::move(*all);
  } else {
    if (l_.errors_.size() > before) return Value::unknown(at);
    l_.is_complete = false;  // the number of steps comes with the call: the body is looked at once
    for (Value& v : states_) v = Value::unknown(v.at);
    next(states_, Value::unknown(l_.span(s_[1])));
    Value v = Value::unknown(at);
    if (order_.size() == 1) return v;
    v.is_tuple = true;
    v.parts.assign(order_.size(), Value::unknown(at));
    return v;
  }
  constexpr int most_refusals = 8;
  int refusals = 0;
  for (std::size_t k = 0; k < steps_.parts.size();) {
    if (refusals < most_refusals) {
      const std::size_t count = as_one_node(k);
      refusals = count ? 0 : refusals + 1;
      if (l_.looked_at_ > max_nodes) {
        l_.error({at, "this loop becomes too large", "more than " + std::to_string(max_nodes) + " operations in all its steps"});
        return Value::unknown(at);
      }
      k += count;
      if (count) continue;
    }
    for (std::size_t i = 0; i < order_.size(); ++i) enter(i, states_[i]);
    const auto after = next(states_, at_step(k));
    if (!after) return Value::unknown(at);
    for (std::size_t i = 0; i < order_.size(); ++i) enter(i, (*after)[i]);
    if (l_.graph.size() > max_nodes) {
      l_.error({at, "this loop becomes too large", "more than " + std::to_string(max_nodes) + " operations"});
      return Value::unknown(at);
    }
    ++k;
  }
  Value v = states_[0];
  if (order_.size() > 1) {
    v = {};
    v.is_tuple = true;
    v.parts = states_;
  }
  v.at = at;
  return v;
}

Lowering::Fold::Mark Lowering::Fold::mark() const {
  return {l_.graph.size(), l_.given_.size(), l_.errors_.size(), l_.warnings_.size(), l_.graph.assumptions.size(), l_.written_out_, l_.is_complete};
}

void Lowering::Fold::back_to(const Mark& m, bool keeps_messages) {
  l_.graph.cut(m.nodes);
  l_.graph.assumptions.erase(l_.graph.assumptions.begin() + static_cast<std::ptrdiff_t>(m.assumptions), l_.graph.assumptions.end());
  for (; l_.given_.size() > m.names; l_.given_.pop_back()) l_.taken_.erase(l_.given_.back());
  l_.used_.erase(l_.used_.lower_bound(static_cast<NodeId>(m.nodes)), l_.used_.end());
  l_.written_out_ = m.written_out;
  l_.is_complete = m.is_complete;
  if (keeps_messages) return;
  l_.errors_.erase(l_.errors_.begin() + static_cast<std::ptrdiff_t>(m.errors), l_.errors_.end());
  l_.warnings_.erase(l_.warnings_.begin() + static_cast<std::ptrdiff_t>(m.warnings), l_.warnings_.end());
}

}  // namespace erx
