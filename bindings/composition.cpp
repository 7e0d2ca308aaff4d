#include "bindings/composition.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "bindings/traced_loop.hpp"
#include "ir/error.hpp"
#include "ops/loop.hpp"
#include "ops/op.hpp"

namespace erx {
namespace {

bool is_within(const Node& node) { return node.op == &op("within") || node.op == &op("within_sum"); }

// Opened by `within` and `acc` unless it has a name.
bool is_open(const Node& node) { return row(node).sum_role != SumRole::none && node.name.empty(); }

std::size_t element_bytes(const Tensor& t) {
  switch (t.storage) {
    case Storage::f64: case Storage::i64: case Storage::u64: return 8;
    case Storage::f32: case Storage::i32: case Storage::u32: return 4;
    case Storage::i16: case Storage::u16: return 2;
    case Storage::i8: case Storage::u8: case Storage::boolean: return 1;
    case Storage::code: return (static_cast<std::size_t>(t.type.format.width()) + 7) / 8;
    case Storage::rational: return 0;
  }
  throw Bug("unknown storage");
}

bool is_contiguous(const Tensor& t) {
  const Extents strides = contiguous_strides(t.extents);
  const auto bytes = static_cast<std::int64_t>(element_bytes(t));
  for (std::size_t k = 0; k < strides.size(); ++k) {
    if (t.extents[k] > 1 && t.byte_strides[k] != strides[k] * bytes) return false;
  }
  return true;
}

// Bit for bit the same elements: then both are one input.
bool same_elements(const Tensor& a, const Tensor& b) {
  if (!(a.type == b.type) || a.storage != b.storage || a.extents != b.extents) return false;
  if (a.is_complex() && !same_elements(a.imag_part(), b.imag_part())) return false;
  if (a.storage == Storage::rational) return a.text == b.text;
  if (a.data == b.data && a.byte_strides == b.byte_strides) return true;
  const auto bytes = static_cast<std::size_t>(a.size()) * element_bytes(a);
  return is_contiguous(a) && is_contiguous(b) && (bytes == 0 || std::memcmp(a.data, b.data, bytes) == 0);
}

class Composer {
 public:
  explicit Composer(const std::optional<Format>& compute) : compute_(compute) {}

  NodeId place(const PiecePtr& root) {
    std::vector<const Piece*> stack{root.get()};
    while (!stack.empty()) {
      const Piece& piece = *stack.back();
      if (places_.contains(&piece)) {
        stack.pop_back();
        continue;
      }
      const auto ready = std::none_of(piece.operands.begin(), piece.operands.end(),
                                      [this](const PiecePtr& o) { return !places_.contains(o.get()); });
      if (ready) {
        places_.emplace(&piece, append(piece, graph, places_));
        for (const PieceAssumption& a : piece.assumptions) assumptions_.push_back(&a);
        stack.pop_back();
        continue;
      }
      for (auto o = piece.operands.rbegin(); o != piece.operands.rend(); ++o) {
        if (!places_.contains(o->get())) stack.push_back(o->get());
      }
    }
    return places_.at(root.get());
  }

  /// Of all pieces that were placed.
  void place_assumptions(const std::vector<PieceResult>& results) {
    for (const PieceResult& r : results)
      for (const PieceAssumption& a : r.assumptions) assumptions_.push_back(&a);
    for (std::size_t k = 0; k < assumptions_.size(); ++k) {
      const PieceAssumption& a = *assumptions_[k];
      graph.assumptions.push_back({place(a.piece), a.text, a.span});
    }
  }

  /// After all results and assumptions.
  Composition take() { return {std::make_shared<const Graph>(std::move(graph)), std::move(tensors_), std::move(pieces_)}; }
  bool has_within() const { return has_within_; }
  Graph graph;

 private:
  using Places = std::unordered_map<const Piece*, NodeId>;
  const std::optional<Format>& compute_;
  Places places_;
  std::vector<Tensor> tensors_;
  std::vector<const PieceAssumption*> assumptions_;
  std::vector<const Piece*> pieces_;  // of the inputs
  std::set<std::string> names_, labels_;
  std::map<std::pair<const int*, std::string>, std::string> label_of_;  // by call and the label there
  bool has_within_ = false;

  // Pieces of several calls may carry one name.
  static std::string fresh(const std::string& name, std::set<std::string>& taken) {
    std::string candidate = name;
    for (int k = 2; !taken.insert(candidate).second; ++k) candidate = name + "_" + std::to_string(k);
    return candidate;
  }

  // Two calls choose independently, though their labels read alike.
  const std::string& label(const int* call, const std::string& text) {
    const auto [at, is_new] = label_of_.try_emplace({call, text});
    if (is_new) at->second = fresh(text, labels_);
    return at->second;
  }

  NodeId append(const Piece& piece, Graph& to, const Places& places) {
    if (piece.tensor) return append_input(piece);
    if (piece.operands.empty() && piece.node.op == &op("input"))
      throw Error("a state of er.fold is used outside of the function that is traced: only what it returns goes on");
    Node node = piece.node;
    for (const PiecePtr& o : piece.operands) node.operands.push_back(places.at(o.get()));
    if (is_within(node)) {
      has_within_ = true;
      if (compute_) node.attributes.format = *compute_;
      else if (piece.innocuous) return node.operands[0];
    }
    if (!node.name.empty() && &to == &graph) node.name = fresh(node.name, names_);
    if (row(node).is_choice && !node.attributes.text.empty()) node.attributes.text = label(piece.call.get(), node.attributes.text);
    if (piece.loop) return append_loop(piece, std::move(node), to);
    if (is_fold(node)) {
      Loop loop = *node.attributes.loop;
      adapt(loop.body, piece.call.get());
      node.attributes.loop = std::make_shared<const Loop>(std::move(loop));
    }
    return to.append(std::move(node));
  }

  /// The body of a loop that came with the graph of a spec.
  void adapt(Graph& body, const int* call) {
    for (NodeId id = 0; id < body.size(); ++id) {
      Attributes& a = body.attributes(id);
      if (is_within(body[id])) {
        has_within_ = true;
        if (compute_) a.format = *compute_;
      }
      if (row(body[id]).is_choice && !a.text.empty()) a.text = label(call, a.text);
      if (!a.loop) continue;
      Loop inner = *a.loop;
      adapt(inner.body, call);
      a.loop = std::make_shared<const Loop>(std::move(inner));
    }
  }

  /// A loop that was traced: its pieces become a graph of their own.
  NodeId append_loop(const Piece& piece, Node fold, Graph& to) {
    const TracedLoop& traced = *piece.loop;
    std::vector<bool> free;  // the states: as the start values, and as what comes after a step
    for (std::size_t k = 0; k < traced.states.size(); ++k) free.push_back(to.has_freedom(fold.operands[k]));
    while (true) {
      Loop loop;
      Places places;
      std::set<std::string> names;
      const auto input = [&](const Node& like, const std::string& name, bool has_freedom) {
        Node node;
        node.op = &op("input");
        node.type = like.type;
        node.shape = like.shape;
        node.name = node.attributes.text = fresh(name, names);
        node.scalar_parameter = like.scalar_parameter;
        node.freedom = has_freedom;
        loop.body.inputs.push_back(loop.body.append(std::move(node)));
        return loop.body.inputs.back();
      };
      for (std::size_t k = 0; k < traced.states.size(); ++k) places[traced.states[k].get()] = input(traced.states[k]->node, traced.states[k]->node.name, free[k]);
      for (std::size_t k = traced.states.size(); k < piece.operands.size(); ++k) {
        const NodeId o = fold.operands[k];
        places[traced.outside[k - traced.states.size()].get()] = input(to[o], to[o].name.empty() ? "t" : to[o].name, to.has_freedom(o));
      }
      for (const PiecePtr& p : traced.body) {
        const NodeId id = places[p.get()] = append(*p, loop.body, places);
        if (!p->node.name.empty() && loop.body[id].name == p->node.name) loop.body.store(id, fresh(p->node.name, names));
      }
      bool settles = true;
      for (std::size_t k = 0; k < free.size(); ++k) {
        const NodeId next = places.at(traced.next[k].get());
        loop.body.results.push_back({"", next, {}});
        settles = settles && free[k] == (free[k] || loop.body.has_freedom(next));
        free[k] = free[k] || loop.body.has_freedom(next);
      }
      if (!settles) continue;
      std::set<std::string> inner;
      inner_variables(loop.body, inner);
      loop.variable = fresh(traced.name, inner);
      rename_variable(loop.body, traced.variable, loop.variable);
      loop.first = traced.first;
      loop.count = traced.count;
      const NodeId id = build_fold(to, std::make_shared<const Loop>(std::move(loop)), std::move(fold.operands), fold.span);
      if (!fold.name.empty()) to.store(id, fold.name);
      return id;
    }
  }

  static void inner_variables(const Graph& body, std::set<std::string>& names) {
    for (NodeId id = 0; id < body.size(); ++id) {
      if (!is_fold(body[id])) continue;
      names.insert(body[id].attributes.loop->variable);
      inner_variables(body[id].attributes.loop->body, names);
    }
  }

  NodeId append_input(const Piece& piece) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const NodeId id = graph.inputs[i];
      if (piece.call && pieces_[i]->call == piece.call) continue;  // its text names two
      if (graph[id].scalar_parameter == piece.node.scalar_parameter && same_elements(tensors_[i], *piece.tensor)) return id;
    }
    Node node = piece.node;
    node.name = fresh(node.name, names_);
    node.attributes.text = node.name;
    const NodeId id = graph.append(std::move(node));
    graph.inputs.push_back(id);
    tensors_.push_back(*piece.tensor);
    pieces_.push_back(&piece);
    return id;
  }
};

/// The rules of one op see an operand's type and shape, the value of a literal, and the parts of a complex number.
class Outline {
 public:
  Graph graph;

  NodeId append(const PiecePtr& piece) {
    const auto known = std::find(pieces_.begin(), pieces_.end(), piece);
    if (known != pieces_.end()) return static_cast<NodeId>(known - pieces_.begin());
    Node node;
    node.type = piece->node.type;
    node.shape = piece->node.shape;
    node.op = &op("input");
    const bool is_literal = piece->node.op == &op("literal");
    const bool is_pair = row(piece->node).gather == Gather::pair;
    if (is_literal || is_pair || (piece->node.op == &op("neg") && piece->operands[0]->node.op == &op("literal"))) {
      node.op = piece->node.op;
      node.attributes = piece->node.attributes;
      for (const PiecePtr& o : piece->operands) node.operands.push_back(append(o));
      if (is_pair) node.name = piece->node.name;
    }
    node.scalar_parameter = piece->node.scalar_parameter;
    pieces_.push_back(piece);
    return graph.append(std::move(node));
  }

  /// The piece of a node that an op has appended, with those that it is made of.
  PiecePtr piece(NodeId id) {
    for (auto k = static_cast<NodeId>(pieces_.size()); k <= id; ++k) {
      std::vector<PiecePtr> operands;
      for (const NodeId o : graph[k].operands) operands.push_back(pieces_[o]);
      pieces_.push_back(make_piece(graph[k], std::move(operands)));
    }
    return pieces_[id];
  }

 private:
  std::vector<PiecePtr> pieces_;  // by node
};

}  // namespace

std::uint64_t take_ages(std::uint64_t count) {
  static std::atomic<std::uint64_t> made{0};  // tells earlier from later, like an address tells one from another
  return made.fetch_add(count) + 1;
}

std::shared_ptr<Piece> make_piece(Node node, std::vector<PiecePtr> operands, std::uint64_t age) {
  auto piece = std::make_shared<Piece>();
  piece->age = age ? age : take_ages(1);
  piece->node = std::move(node);
  piece->node.operands.clear();
  piece->operands = std::move(operands);
  return piece;
}

Piece::~Piece() {
  std::vector<PiecePtr> pending = std::move(operands);
  while (!pending.empty()) {
    const PiecePtr last = std::move(pending.back());
    pending.pop_back();
    if (last.use_count() > 1) continue;
    auto& below = const_cast<Piece&>(*last).operands;  // nobody else sees it any more
    std::move(below.begin(), below.end(), std::back_inserter(pending));
    below.clear();
  }
}

PiecePtr input(std::string name, Tensor tensor, bool scales, std::shared_ptr<const int> call) {
  Node node;
  node.op = &op("input");
  node.type = tensor.type;
  node.shape = shape_of(tensor.extents);
  node.attributes.text = name;
  node.name = std::move(name);
  node.scalar_parameter = scales;
  auto piece = make_piece(std::move(node), {});
  piece->tensor = std::move(tensor);
  piece->call = std::move(call);
  return piece;
}

PiecePtr apply(std::string_view name, std::vector<PiecePtr> operands, Attributes attributes) {
  Outline outline;
  std::vector<NodeId> ids;
  for (const PiecePtr& o : operands) ids.push_back(outline.append(o));
  try {
    return outline.piece(build(outline.graph, op(name), ids, std::move(attributes)));
  } catch (const RuleBroken& broken) {
    std::string what = broken.what;
    if (!broken.label.empty()) what += " (" + broken.label + ")";
    throw Error(std::move(what));
  }
}

PiecePtr apply_within(PiecePtr operation, const Format& format, bool innocuous) {
  if (row(operation->node).gather == Gather::pair) {
    auto re = apply_within(operation->operands[0], format, innocuous), im = apply_within(operation->operands[1], format, innocuous);
    return apply("complex", {std::move(re), std::move(im)});
  }
  const bool sum = row(operation->node).sum_role != SumRole::none && row(operation->node).sum_role != SumRole::product;
  Attributes attributes;
  attributes.format = format;
  if (row(operation->node).is_function) attributes.ulp = 2;  // as `within` in a text
  auto piece = std::const_pointer_cast<Piece>(apply(sum ? "within_sum" : "within", {std::move(operation)}, std::move(attributes)));
  piece->innocuous = innocuous;
  return piece;
}

PiecePtr opaque(PiecePtr piece) {
  // The same node, so that every use still means the same member: only its name is new.
  if (is_open(piece->node) || (row(piece->node).gather == Gather::pair && piece->node.name.empty())) const_cast<Piece&>(*piece).node.name = "t";
  return piece;
}

Composition compose(const std::vector<PieceResult>& results, const std::string& name, const std::optional<Format>& compute) {
  Composer composer(compute);
  composer.graph.name = name;
  for (const PieceResult& r : results) composer.graph.results.push_back({r.name, composer.place(r.piece), r.declared});
  composer.place_assumptions(results);
  if (compute && !composer.has_within()) {
    throw Error("a compute format was given, but nothing in this result is `within` a format");
  }
  return composer.take();
}

std::vector<PieceResult> pieces_of(const Graph& graph, const std::vector<PiecePtr>& inputs, std::uint64_t age) {
  const auto call = std::make_shared<const int>();
  const auto copy = [&] {
    std::vector<std::shared_ptr<Piece>> pieces(graph.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) pieces[graph.inputs[i]] = std::const_pointer_cast<Piece>(inputs[i]);
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (pieces[id]) continue;
      std::vector<PiecePtr> operands;
      for (const NodeId o : graph[id].operands) operands.push_back(pieces[o]);
      pieces[id] = make_piece(graph[id], std::move(operands), age ? age++ : 0);
      pieces[id]->call = call;
    }
    return pieces;
  };
  const auto pieces = copy();
  std::vector<PieceResult> results;
  for (const Result& r : graph.results) results.push_back({r.name, pieces[r.node], r.declared});
  if (graph.assumptions.empty()) return results;
  // Pieces of their own, which no result holds: a result that held itself would never go.
  const auto assumed = copy();
  for (std::size_t i = 0; i < results.size(); ++i) {
    Piece& piece = *pieces[graph.results[i].node];
    auto& where = piece.tensor ? results[i].assumptions : piece.assumptions;
    for (const Assumption& a : graph.assumptions) where.push_back({assumed[a.node], a.text, a.span});
  }
  return results;
}

}  // namespace erx
