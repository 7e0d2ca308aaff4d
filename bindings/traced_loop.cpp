#include "bindings/traced_loop.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "ir/error.hpp"
#include "ops/loop.hpp"
#include "ops/op.hpp"

namespace erx {
namespace {

using Same = std::unordered_map<const Piece*, PiecePtr>;  // what stands for a piece

bool is_literal(const Piece& p) {
  if (p.node.op == &op("literal")) return true;
  return (p.node.op == &op("neg") || p.node.op == &op("broadcast")) && is_literal(*p.operands[0]);
}

/// The pieces of the step, in the order in which they were made, and what they read from outside.
struct Pieces {
  std::vector<PiecePtr> body, outside;
};

Pieces pieces_of_step(const std::vector<PiecePtr>& states, const std::vector<PiecePtr>& next) {
  std::uint64_t oldest = states[0]->age;
  for (const PiecePtr& s : states) oldest = std::min(oldest, s->age);
  const auto is_state = [&](const PiecePtr& p) { return std::find(states.begin(), states.end(), p) != states.end(); };
  Pieces pieces;
  std::unordered_set<const Piece*> seen;
  std::vector<PiecePtr> pending = next;
  while (!pending.empty()) {
    const PiecePtr p = pending.back();
    pending.pop_back();
    if (is_state(p) || !seen.insert(p.get()).second) continue;
    if (p->age < oldest || p->tensor) {
      pieces.outside.push_back(p);
      continue;
    }
    pieces.body.push_back(p);
    pending.insert(pending.end(), p->operands.begin(), p->operands.end());
  }
  const auto by_age = [](const PiecePtr& a, const PiecePtr& b) { return a->age < b->age; };
  std::sort(pieces.body.begin(), pieces.body.end(), by_age);
  std::sort(pieces.outside.begin(), pieces.outside.end(), by_age);
  return pieces;
}

PiecePtr at(const Same& same, const PiecePtr& p) { return same.contains(p.get()) ? same.at(p.get()) : p; }

/// The pieces of the body once more, on what stands for the states. `attributes`: of each node there.
Same again(const std::vector<PiecePtr>& body, Same same, const std::function<Attributes(const Node&)>& attributes) {
  for (const PiecePtr& p : body) {
    std::vector<PiecePtr> operands;
    for (const PiecePtr& o : p->operands) operands.push_back(at(same, o));
    const Node& node = p->node;
    Attributes a = attributes(node);
    std::shared_ptr<Piece> made;
    if (p->operands.empty() || p->loop || is_fold(node) || is_state(node)) {
      Node copy = node;
      copy.attributes = std::move(a);
      made = make_piece(std::move(copy), std::move(operands));
    } else {
      made = std::const_pointer_cast<Piece>(apply(node.op->name, std::move(operands), std::move(a)));
    }
    made->node.name = node.name;
    made->call = p->call;
    if (p->loop) {
      TracedLoop inner = *p->loop;
      const Same inside = again(inner.body, {}, attributes);
      for (PiecePtr& q : inner.body) q = at(inside, q);
      for (PiecePtr& q : inner.next) q = at(inside, q);
      made->loop = std::make_shared<const TracedLoop>(std::move(inner));
    }
    made->innocuous = p->innocuous;
    made->assumptions = p->assumptions;
    same[p.get()] = std::move(made);
  }
  return same;
}

/// A state that started as a number: of which type it is its own loop finds out.
bool is_untyped_state(const Piece& p) { return p.node.op == &op("input") && !p.tensor && p.node.type.is_real(); }

bool is_value(const PiecePtr& start, const Type& type) {
  if (contains(type, start->node.type) || (is_untyped_state(*start) && type.is_floating())) return true;
  // A number as it is written, where it is one of the format: 0, -inf.
  if (!is_literal(*start) || !type.is_floating()) return false;
  const Piece* p = start.get();
  while (!p->operands.empty()) p = p->operands[0].get();
  const Exact number = Exact::literal(p->node.attributes.text);
  if (!number.is_known()) return type.format.has_infinity();  // inf
  const double x = lower(number);
  return compare(number, Exact::exact(x)) == Comparison::equal && erx::is_value(type.format, x);
}

PiecePtr in_shape(const PiecePtr& p, const Shape& shape) {
  if (p->node.shape == shape) return p;
  Attributes a;
  a.shape = shape;
  return apply("broadcast", {p}, std::move(a));
}

std::string described(const Node& n) { return to_string(n.type) + (n.shape.empty() ? "" : to_string(n.shape)); }

}  // namespace

bool depends_on_types(const std::vector<PiecePtr>& pieces) {
  std::unordered_set<const Piece*> seen;
  std::vector<PiecePtr> pending = pieces;
  while (!pending.empty()) {
    const PiecePtr p = pending.back();
    pending.pop_back();
    if (!seen.insert(p.get()).second) continue;
    if (p->node.op == &op("within") || p->node.op == &op("within_sum")) return true;
    pending.insert(pending.end(), p->operands.begin(), p->operands.end());
    if (p->loop) pending.insert(pending.end(), p->loop->body.begin(), p->loop->body.end());
  }
  return false;
}

PiecePtr state_piece(const std::string& name, const PiecePtr& start) {
  Node node;
  node.op = &op("input");
  node.type = start->node.type;
  node.shape = start->node.shape;
  node.name = node.attributes.text = name;
  return make_piece(std::move(node), {});
}

std::vector<PiecePtr> fold(const std::vector<PiecePtr>& starts, const std::vector<PiecePtr>& states, const std::vector<PiecePtr>& next, const LoopRange& range) {
  const Pieces pieces = pieces_of_step(states, next);
  const auto unchanged = [](const Node& n) { return n.attributes; };
  TracedLoop loop{states, pieces.outside, pieces.body, next, range.variable, range.name, range.first, range.count};
  std::vector<PiecePtr> values = starts;
  // A number that starts a state has the type of what comes after a step, and its shape.
  for (int round = 0;; ++round) {
    bool settles = true;
    for (std::size_t k = 0; k < states.size(); ++k) {
      const Node &before = loop.states[k]->node, &after = loop.next[k]->node, &start = starts[k]->node;
      const bool is_same = before.type == after.type && before.shape == after.shape;
      if (is_same && start.type == after.type && start.shape == after.shape) continue;
      settles = settles && is_same;
      const auto both = broadcast(starts[k]->node.shape, after.shape);
      if (round > static_cast<int>(states.size()) || after.type.is_complex != before.type.is_complex || !is_value(starts[k], after.type) || !both || *both != after.shape)
        throw Error("the state `" + before.name + "` is " + described(before) + " before a step of er.fold and " + described(after) +
                    " after it: start it with that type and shape, as er.array(.., dtype), or store it in the step with er.round");
    }
    for (std::size_t k = 0; k < states.size(); ++k) values[k] = in_shape(starts[k], loop.next[k]->node.shape);
    if (settles) break;
    Same same;
    for (std::size_t k = 0; k < states.size(); ++k) {
      same[states[k].get()] = state_piece(states[k]->node.name, make_piece(loop.next[k]->node, {}));
    }
    for (std::size_t k = 0; k < states.size(); ++k) loop.states[k] = same[states[k].get()];
    same = again(pieces.body, std::move(same), unchanged);
    for (std::size_t i = 0; i < loop.body.size(); ++i) loop.body[i] = at(same, pieces.body[i]);
    for (std::size_t k = 0; k < states.size(); ++k) loop.next[k] = at(same, next[k]);
  }
  for (const PiecePtr& p : loop.body) {
    for (std::size_t k = 0; p->loop && k < p->loop->states.size(); ++k) {
      const Node& start = p->operands[k]->node;
      const bool is_own = std::find(loop.states.begin(), loop.states.end(), p->operands[k]) != loop.states.end();
      if (is_own && !contains(p->loop->states[k]->node.type, start.type))
        throw Error("the state `" + start.name + "` of er.fold is " + described(start) + ", and starts one that is " + described(p->loop->states[k]->node));
    }
  }
  const auto stored = [&](std::size_t k) {  // a state of a step that stands by itself is one stored tensor
    if (values[k]->node.op == &op("literal")) values[k] = make_piece(values[k]->node, {});
    auto& piece = const_cast<Piece&>(*values[k]);
    if (piece.node.name.empty() && (piece.age > states[0]->age)) piece.node.name = states[k]->node.name;
    else values[k] = opaque(values[k]);
  };
  const auto step = [&](std::int64_t value, std::int64_t length) {
    Same same;
    for (std::size_t k = 0; k < states.size(); ++k) {
      stored(k);
      same[loop.states[k].get()] = values[k];
    }
    same = again(loop.body, std::move(same), [&](const Node& n) {
      Attributes a = n.attributes;
      for (const Moving& m : a.moving) {
        if (m.variable != range.variable) continue;
        if (m.slice < 0) {
          a.text = std::to_string(std::stoll(a.text) + m.stride * value);
          continue;
        }
        Slice& s = a.slices.at(static_cast<std::size_t>(m.slice));
        s.start += m.stride * value;
        if (length > 0) s.count = length;
      }
      std::erase_if(a.moving, [&](const Moving& m) { return m.variable == range.variable; });
      return a;
    });
    for (std::size_t k = 0; k < states.size(); ++k) {
      values[k] = at(same, loop.next[k]);
      stored(k);
    }
  };
  if (range.count == 1) {
    step(range.first, 0);
  } else if (range.count > 1) {
    Node node;
    node.op = &op("fold");
    node.type = loop.next[0]->node.type;
    node.shape = loop.next[0]->node.shape;
    std::vector<PiecePtr> operands = values;
    operands.insert(operands.end(), pieces.outside.begin(), pieces.outside.end());
    auto whole = make_piece(std::move(node), std::move(operands));
    whole->loop = std::make_shared<const TracedLoop>(loop);
    values = {whole};
    for (std::size_t k = 1; k < states.size(); ++k) {
      Node state;
      state.op = &op("state");
      state.attributes.axes = {static_cast<std::int64_t>(k)};
      state.type = loop.next[k]->node.type;
      state.shape = loop.next[k]->node.shape;
      values.push_back(make_piece(std::move(state), {whole}));
    }
  }
  if (range.rest > 0) step(range.count, range.rest);  // the short tile
  return values;
}

}  // namespace erx
