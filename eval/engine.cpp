#include "eval/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

#include "eval/choice_label.hpp"
#include "eval/ladder.hpp"
#include "eval/loops.hpp"
#include "eval/parallel.hpp"
#include "eval/reduce.hpp"
#include "eval/reduce_line.hpp"
#include "eval/tile_sum.hpp"
#include "ops/complex.hpp"
#include "ops/number_tile.hpp"

namespace erx {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 33;

}  // namespace

Engine::Engine(const Graph& graph, const std::vector<Tensor>& inputs, const EvaluateOptions& options, std::map<std::string, int> branches)
    : graph_(graph), inputs_(inputs), options_(options), branches_(std::move(branches)) {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_[id];
    if (!is_concrete(node.shape)) throw Bug("a graph with named dimensions cannot be evaluated");
    std::int64_t size = 1;
    for (const std::int64_t extent : extents_of(node.shape))
      if (__builtin_mul_overflow(size, extent, &size) || size > max_elements)
        throw Error(Diagnostic{node.span, "a tensor of more than 2^33 elements: " + to_string(node.shape), ""});
  }
  for (NodeId id = 0, n = static_cast<NodeId>(graph_.size()); id < n; ++id)
    if (row(graph_[id]).gather == Gather::pair) find_pairs(id);
}

/// Parts with choices that may have to be stored by themselves (below a view of a complex tensor): what the two parts of `root` are
/// made of in the same way. Their choices stay those of one number.
void Engine::find_pairs(NodeId root) {
  if (!graph_.has_freedom(root)) return;
  std::vector<std::pair<NodeId, NodeId>> pending = {{graph_[root].operands[0], graph_[root].operands[1]}};
  std::set<std::pair<NodeId, NodeId>> seen;
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    const Node &a = graph_[x], &b = graph_[y];
    const Gather gather = row(a).gather;
    if (x == y || a.op != b.op || a.operands.size() != b.operands.size() || !(a.shape == b.shape) || (gather != Gather::map && gather != Gather::view)) continue;
    if (!graph_.has_freedom(x) || !graph_.has_freedom(y) || !seen.insert({x, y}).second) continue;
    for (std::size_t k = 0; k < a.operands.size(); ++k) pending.emplace_back(a.operands[k], b.operands[k]);
    if (gather == Gather::map && !a.type.is_boolean() && !pairs_.count(x) && !pairs_.count(y)) {  // a comparison is no part of a number
      const NodeId both = pair(graph_, x, y);
      pairs_[x] = pairs_[y] = both;
    }
  }
}

int Engine::branch(const std::string& key) const {
  const auto it = branches_.find(key);
  return it == branches_.end() ? -1 : it->second;
}

std::map<std::string, int> Engine::labels() const {
  std::map<std::string, int> labels;
  for (const auto& [key, branch] : branches_)
    if (is_label_key(key)) labels[key] = branch;
  return labels;
}

void Engine::give(NodeId id, Stored values, Outside outside) {
  wanted_.resize(graph_.size(), false);
  stored_.resize(graph_.size());
  wanted_[id] = true;
  stored_[id] = std::make_unique<Stored>(std::move(values));
  outside_[id] = outside;
}

const Engine::Outside* Engine::outside(NodeId id) const {
  const auto found = outside_.find(id);
  return found == outside_.end() ? nullptr : &found->second;
}

const Tensor* Engine::input(NodeId id) const {
  for (std::size_t k = 0; k < graph_.inputs.size(); ++k)
    if (graph_.inputs[k] == id) return &inputs_[k];
  return nullptr;
}

NodeId Engine::stored_in(NodeId id, const Format& format) {
  Attributes attributes;
  attributes.format = format;
  return build(graph_, op("round"), {id}, attributes, graph_[id].span);
}

const Stored& Engine::ensure(NodeId id) {
  if (readers_.empty()) find_readers();
  plan(id);
  for (NodeId k = 0; k < stored_.size(); ++k)
    if (stored_[k] && stored_[k]->in_place && whole_[k]) stored_[k].reset();
  for (NodeId k = 0; k <= id; ++k) {
    if (!wanted_[k] || stored_[k]) continue;
    compute(k);
    give_back(k);
  }
  return *stored_[id];
}

/// Which nodes below `root` have to be stored: an operand is stored unless its user is elementwise and of the same shape.
void Engine::plan(NodeId root) {
  wanted_.resize(graph_.size(), false);
  whole_.resize(graph_.size(), false);
  stored_.resize(graph_.size());
  std::vector<NodeId> pending{root};
  std::vector<bool> seen(graph_.size(), false);
  const auto want = [&](NodeId id) { wanted_[id] = whole_[id] = true; };
  want(root);
  seen[root] = true;
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (stored_[id]) continue;
    const Node& node = graph_[id];
    const Gather gather = row(node).gather;
    std::optional<NodeId> sum_with_rounding = sum_before(id);
    if (sum_with_rounding && is_stored(*sum_with_rounding)) sum_with_rounding.reset();
    if (sum_with_rounding) fused_[id] = *sum_with_rounding;
    if (gather == Gather::source) wanted_[id] = true;
    else if (sum_with_rounding || (gather != Gather::map && gather != Gather::view)) want(id);
    std::vector<NodeId> operands = node.operands;
    std::vector<NodeId> in_place;
    const auto is_in_place = [&](NodeId leaf) { return std::find(in_place.begin(), in_place.end(), leaf) != in_place.end(); };
    if (sum_with_rounding || gather == Gather::sum || gather == Gather::accumulate) {
      const NodeId sum = sum_with_rounding.value_or(id);
      const NodeId opened = row(graph_[sum]).gather == Gather::accumulate ? graph_[sum].operands[0] : sum;
      operands.clear();
      const std::vector<LeafNode> leaves = leaf_nodes(graph_, opened);
      if (const auto product = multiplies_in_place(id, sum)) {
        in_place.assign(product->begin(), product->end());
        packed_.insert(in_place.back());
      } else if (leaves.size() == 1 && sums_in_place(leaves[0].node)) {
        in_place.push_back(leaves[0].node);
      }
      for (const LeafNode& leaf : leaves) {
        operands.push_back(leaf.node);
        wanted_[leaf.node] = true;
        if (!is_in_place(leaf.node)) want(leaf.node);
      }
    }
    const bool mixes = gather == Gather::reduce || gather == Gather::recurrence || gather == Gather::sum || gather == Gather::accumulate || sum_with_rounding;
    for (NodeId operand : operands) {
      if (operand < readers_.size() && is_finding_readers_) {
        readers_[operand].push_back(id);
        if (!mixes) hull_is_enough_[operand] = false;
      }
      const bool is_map = row(graph_[operand]).gather == Gather::map;
      const bool reduced_in_place = gather == Gather::reduce && operand == node.operands[0] && reduces_in_place(id);
      if (reduced_in_place) wanted_[operand] = true;
      else if (gather == Gather::reduce || gather == Gather::join || gather == Gather::recurrence || gather == Gather::loop) want(operand);
      if (!is_in_place(operand) && !reduced_in_place && (gather != Gather::map || graph_[operand].shape != node.shape)) whole_[operand] = true;
      if (is_map && (gather == Gather::view || graph_[operand].shape != node.shape)) {
        want(operand);
        const auto pair = pairs_.find(operand);
        if (pair != pairs_.end())
          for (const NodeId part : graph_[pair->second].operands) {
            want(part);
            if (seen[part]) continue;
            seen[part] = true;
            pending.push_back(part);
          }
      }
      if (!seen[operand]) {
        seen[operand] = true;
        pending.push_back(operand);
      }
    }
    // A view that cannot be expressed on what lies below it needs that copied first.
    if (gather == Gather::view) {
      NodeId base = node.operands[0];
      if (row(graph_[base]).gather == Gather::view && !row(node).view(view_of(base).second, node)) want(base);
    }
  }
}

/// A sum of an input alone may read it as it decodes it; what needs it whole says so (make_whole).
bool Engine::sums_in_place(NodeId leaf) const {
  constexpr std::int64_t worth = 64;
  const Tensor* tensor = input(leaf);
  return tensor && tensor->is_double() && options_.lowest == EvaluateOptions::Tier::f64 && size_of(tensor->extents) >= worth;
}

/// So may the operands of a product of inputs that is rounded at once, or added up in a format; what is added to it may not.
std::optional<std::array<NodeId, 2>> Engine::multiplies_in_place(NodeId id, NodeId sum) const {
  const bool rounds = row(graph_[sum]).gather == Gather::accumulate;
  const std::vector<Term> terms = terms_of(graph_, rounds ? graph_[sum].operands[0] : sum);
  const Extents extents = extents_of(graph_[sum].shape);
  if (!suits_tiles(extents, terms, rounds, id == sum ? nullptr : &graph_[id])) return {};
  const Term* const product = matrix_term_of(extents, terms);
  const std::array<NodeId, 2> operands{product->a.node, product->b->node};
  for (const NodeId operand : operands) {
    const auto reads = [&](const Term& t) { return &t != product && (t.a.node == operand || (t.b && t.b->node == operand)); };
    if (!sums_in_place(operand) || std::any_of(terms.begin(), terms.end(), reads)) return {};
  }
  return operands;
}

/// So may a reduction of an input over its last dimensions.
bool Engine::reduces_in_place(NodeId id) const {
  return sums_in_place(graph_[id].operands[0]) && ReduceLine::fits(graph_[id], reduction_of(graph_, id));
}

void Engine::make_whole(NodeId id) {
  if (!stored_[id] || !stored_[id]->in_place) return;
  whole_[id] = true;
  stored_[id] = std::make_unique<Stored>(store_source(id));
}

int Engine::precision_of_users(NodeId id) const {
  constexpr int unlimited = std::numeric_limits<int>::max();
  for (const Result& r : graph_.results)
    if (r.node == id) return unlimited;
  int most = 0;
  for (NodeId user = id + 1; user < graph_.size(); ++user) {
    const Node& node = graph_[user];
    if (std::find(node.operands.begin(), node.operands.end(), id) == node.operands.end()) continue;
    if (!row(node).rounds_operand || node.shape != graph_[id].shape) return unlimited;
    most = std::max(most, node.attributes.format->precision());
  }
  return most == 0 ? unlimited : most;
}

/// A product of matrices and a value of a format that is added to each of its elements, or subtracted: then the zero of a sum has the sign that the
/// sum of all leaves has. In `C - A @ B` it has not: -0 - (+0) is -0, and leaves of both signs sum to +0.
bool Engine::adds_to_product(NodeId id, const Node& then) const {
  const SumRole role = row(graph_[id]).sum_role;
  if ((role != SumRole::plus && role != SumRole::minus) || not_a_sum(graph_, id)) return false;
  const std::vector<Term> terms = terms_of(graph_, id);
  const Extents extents = extents_of(graph_[id].shape);
  const Term* const product = matrix_term_of(extents, terms);
  if (!product || product->negative || terms.size() != 2 || !suits_tiles(extents, terms, false, &then)) return false;
  for (std::size_t k = 0; k + 2 < extents.size(); ++k)  // one product for many batches is computed once by itself
    if (extents[k] > 1 && product->a.out_strides[k] == 0 && product->b->out_strides[k] == 0) return false;
  const auto is_value = [&](NodeId leaf) { return graph_[leaf].type.is_floating() && !graph_.has_freedom(leaf); };
  return std::all_of(terms.begin(), terms.end(), [&](const Term& t) { return is_value(t.a.node) && (!t.b || is_value(t.b->node)); });
}

std::optional<NodeId> Engine::sum_before(NodeId rounding) const {
  const Node& node = graph_[rounding];
  // The parts of a complex number with choices are evaluated together.
  if (!row(node).rounds_operand || node.freedom || pairs_.contains(rounding)) return {};
  const NodeId id = node.operands[0];
  const Gather gather = row(graph_[id]).gather;
  if ((gather != Gather::accumulate && gather != Gather::sum && !adds_to_product(id, node)) || precision_of_users(id) == std::numeric_limits<int>::max()) return {};
  for (NodeId user = id + 1; user < graph_.size(); ++user)
    if (user != rounding && std::find(graph_[user].operands.begin(), graph_[user].operands.end(), id) != graph_[user].operands.end()) return {};
  return id;
}

std::pair<NodeId, View> Engine::view_of(NodeId id) const {
  const Node& node = graph_[id];
  if (row(node).gather != Gather::view || is_stored(id)) return {id, View::contiguous(extents_of(node.shape))};
  const NodeId operand = node.operands[0];
  auto [base, view] = wanted_.size() > operand && wanted_[operand] && row(graph_[operand]).gather == Gather::view
                          ? std::pair{operand, View::contiguous(extents_of(graph_[operand].shape))}
                          : view_of(operand);
  const std::optional<View> seen = row(node).view(view, node);
  if (seen) return {base, *seen};
  const std::optional<View> copied = row(node).view(View::contiguous(extents_of(graph_[operand].shape)), node);
  if (!copied) throw Bug("a view of a contiguous tensor");
  return {operand, *copied};
}

ConeSource Engine::cone_source() const {
  return {[this](NodeId id) { return id < wanted_.size() && wanted_[id]; },
          [this](NodeId id) { return stored_[id]->in_place ? 1 : static_cast<int>(stored_[id]->tensor.planes.size()); },
          [this](NodeId id) { return stored_[id]->joint; },
          [this](NodeId id) { return view_of(id); },
          [this](const Node& node) {
            return node.attributes.text.empty() ? -1 : branch(choice_key(node));
          }};
}

/// Stores `id` and what it needs, out of turn; false if it needs one of `unless`.
bool Engine::compute_first(NodeId id, const std::vector<NodeId>& unless) {
  std::vector<NodeId> pending{id}, needed;
  std::vector<bool> seen(graph_.size(), false);
  while (!pending.empty()) {
    const NodeId k = pending.back();
    pending.pop_back();
    if (seen[k] || is_stored(k)) continue;
    seen[k] = true;
    if (std::find(unless.begin(), unless.end(), k) != unless.end()) return false;
    needed.push_back(k);
    pending.insert(pending.end(), graph_[k].operands.begin(), graph_[k].operands.end());
  }
  std::sort(needed.begin(), needed.end());
  for (const NodeId k : needed)
    if (wanted_[k] && !stored_[k]) compute(k);
  return true;
}

/// Both parts of a complex tensor with choices; false where one needs the other first.
bool Engine::compute_jointly(NodeId id) {
  const auto pair = pairs_.find(id);
  if (pair == pairs_.end()) return false;
  const std::vector<NodeId> parts = graph_[pair->second].operands;
  for (const NodeId part : parts)
    if (!wanted_[part] || stored_[part]) return false;
  ConeSource source = cone_source();
  const auto stored = source.is_stored;
  std::set<NodeId> missing;
  source.is_stored = [&](NodeId k) { return stored(k) && k != parts[0] && k != parts[1]; };
  source.planes = [&](NodeId k) {
    if (!stored_[k]) missing.insert(k);
    return stored_[k] && !stored_[k]->in_place ? static_cast<int>(stored_[k]->tensor.planes.size()) : 1;
  };
  source.joint = [&](NodeId k) { return stored_[k] ? stored_[k]->joint : 0; };
  Cone cone = make_cone(graph_, pair->second, source);
  if (!missing.empty()) {
    if (!joining_.insert(pair->second).second) return false;  // two tensors whose parts need each other
    const bool ready = std::all_of(missing.begin(), missing.end(), [&](NodeId k) { return compute_first(k, parts); });
    joining_.erase(pair->second);
    if (stored_[parts[0]] || stored_[parts[1]]) return stored_[id] != nullptr;
    if (!ready) return false;
    cone = make_cone(graph_, pair->second, source);
  }
  std::array<Stored, 2> both = run_parts(*this, cone);
  for (std::size_t p = 0; p < 2; ++p) {
    both[p].joint = both[p].tensor.planes.size() > 1 ? pair->second : 0;
    both[p].cone = make_cone(graph_, parts[p], source);
    stored_[parts[p]] = std::make_unique<Stored>(std::move(both[p]));
  }
  return true;
}

void Engine::compute(NodeId id) {
  stop_if_asked(options_);
  if (compute_jointly(id)) return;
  Stored result;
  if (const auto fused = fused_.find(id); fused != fused_.end()) {
    stored_[id] = std::make_unique<Stored>(run_sum(*this, fused->second, id));
    return;
  }
  switch (row(graph_[id]).gather) {
    case Gather::source: result = store_source(id); break;
    case Gather::sum:
    case Gather::accumulate: result = run_sum(*this, id, {}); break;
    case Gather::reduce: result = run_reduction(*this, id); break;
    case Gather::join: result = run_join(*this, id); break;
    case Gather::recurrence: result = run_scan(*this, id); break;
    case Gather::loop: result = store_state(id); break;
    case Gather::composed: throw Bug("a composed op in a graph");
    case Gather::pair: result = run_pair(*this, make_cone(graph_, id, cone_source())); break;
    case Gather::map:
    case Gather::view: result = run_cone(*this, make_cone(graph_, id, cone_source())); break;
  }
  stored_[id] = std::make_unique<Stored>(std::move(result));
}

/// A loop is run once; its states are taken one by one.
Stored Engine::store_state(NodeId id) {
  const Node& node = graph_[id];
  if (is_state(node)) return states_.at(node.operands[0]).at(static_cast<std::size_t>(node.attributes.axes[0]));
  states_[id] = run_loop(*this, id);
  return states_[id][0];
}

Stored Engine::store_source(NodeId id) const {
  Stored s;
  const Node& node = graph_[id];
  s.tensor.type = node.type;
  s.tensor.extents = extents_of(node.shape);
  const std::int64_t n = s.tensor.size();
  const auto array = [&] { return std::make_shared<Doubles>(static_cast<std::size_t>(n)); };
  Plane p;
  // Flags are kept only where some element has one.
  std::shared_ptr<FlagBytes> flags;
  std::once_flag once;
  const auto flags_at = [&](std::int64_t first) {
    std::call_once(once, [&] { flags = std::make_shared<FlagBytes>(static_cast<std::size_t>(n), 0); });
    return flags->data() + first;
  };
  if (const auto element = row(node).element) {
    p.lo_d = p.lo_u = p.hi_d = p.hi_u = array();
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = (*p.lo_d)[static_cast<std::size_t>(i)] = element(i);
      if (x == 0) flags_at(0)[i] = has_pzero;
    }
    p.flags = flags;
    s.tensor.planes = {p};
    s.is_point = true;
    finish(s);
    return s;
  }
  const Tensor* tensor = input(id);
  const bool decodes = tensor && tensor->is_double();
  if (decodes && !whole_[id]) {
    s.in_place = tensor;
    s.is_point = s.is_exact = true;
    return s;
  }
  p.lo_d = p.lo_u = p.hi_d = p.hi_u = array();
  if (!decodes) p.lo_u = p.hi_u = array();
  constexpr std::int64_t block = 1 << 14;
  parallel_blocks((n + block - 1) / block, options_, [&](std::int64_t k) {
    const std::int64_t first = k * block, count = std::min(block, n - first);
    double* d = p.lo_d->data() + first;
    if (decodes) {
      tensor->decode(first, count, d);
      if (look_at(d, static_cast<std::size_t>(count)) == Decoded::nonzero) return;
      for (std::int64_t i = 0; i < count; ++i) {
        if (d[i] != 0 && std::isfinite(d[i])) continue;
        std::uint8_t* f = flags_at(first);
        f[i] = flags_of(d[i]);
        if (f[i] & no_reals) d[i] = 0;
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        const Set<F64> x = tensor ? tensor->element<F64>(first + i, {}) : literal_element(node.attributes.text);
        d[i] = x.has_reals() ? x.lo.d : 0;
        (*p.lo_u)[static_cast<std::size_t>(first + i)] = x.has_reals() ? x.lo.u : 0;
        if (x.flags) flags_at(first)[i] = x.flags;
      }
    }
  });
  p.flags = flags;
  s.tensor.planes = {p};
  s.tensor.settled = decodes;
  s.is_point = true;
  finish(s);
  return s;
}

namespace {

/// Has every element one value, though its node had a choice? (A cast in range.)
bool is_single(Plane& p) {
  if (*p.lo_d != *p.hi_d) return false;
  for (const std::uint8_t f : p.flags ? *p.flags : FlagBytes())
    if (f & ~any_zero || (f & any_zero) == any_zero) return false;
  p.hi_d = p.lo_d;
  p.hi_u = p.lo_u;
  return true;
}

}  // namespace

void finish(Stored& s) {
  SetTensor& t = s.tensor;
  const auto same = [](Plane::Array& a, Plane::Array& b) {
    if (a != b && *a == *b) b = a;
    return a == b;
  };
  s.is_exact = true;
  for (Plane& p : t.planes) {
    if (p.flags && std::all_of(p.flags->begin(), p.flags->end(), [](std::uint8_t f) { return f == 0; })) p.flags = nullptr;
    if (s.is_point) {
      p.hi_d = p.lo_d;
      p.hi_u = p.lo_u;
    }
    s.is_exact = s.is_exact && same(p.lo_d, p.lo_u) && same(p.hi_d, p.hi_u);
  }
  if (t.planes.size() == 1) {
    s.is_point = s.is_point || (s.is_exact && is_single(t.planes[0]));
    s.hull = t.planes[0];
    return;
  }
  // The hull of all planes, element by element.
  const std::size_t n = static_cast<std::size_t>(t.size());
  Plane& h = s.hull;
  h.lo_d = std::make_shared<Doubles>(n);
  h.hi_u = std::make_shared<Doubles>(n);
  h.lo_u = s.is_exact ? h.lo_d : std::make_shared<Doubles>(n);
  h.hi_d = s.is_exact ? h.hi_u : std::make_shared<Doubles>(n);
  h.flags = std::make_shared<FlagBytes>(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    bool reals = false;
    std::uint8_t flags = 0;
    for (const Plane& p : t.planes) {
      const std::uint8_t f = p.flags ? (*p.flags)[i] : 0;
      flags |= f & ~no_reals;
      if (f & no_reals) continue;
      const double lo_d = (*p.lo_d)[i], lo_u = (*p.lo_u)[i], hi_d = (*p.hi_d)[i], hi_u = (*p.hi_u)[i];
      (*h.lo_d)[i] = reals ? std::min((*h.lo_d)[i], lo_d) : lo_d;
      (*h.lo_u)[i] = reals ? std::min((*h.lo_u)[i], lo_u) : lo_u;
      (*h.hi_d)[i] = reals ? std::max((*h.hi_d)[i], hi_d) : hi_d;
      (*h.hi_u)[i] = reals ? std::max((*h.hi_u)[i], hi_u) : hi_u;
      reals = true;
    }
    if (!reals) (*h.lo_d)[i] = (*h.lo_u)[i] = (*h.hi_d)[i] = (*h.hi_u)[i] = 0;
    (*h.flags)[i] = flags | (reals ? 0 : no_reals);
  }
  if (std::all_of(h.flags->begin(), h.flags->end(), [](std::uint8_t f) { return f == 0; })) h.flags = nullptr;
}

Line line_of(const Stored& s) {
  if (!s.is_exact || !s.is_point || s.tensor.planes.size() != 1) return {};
  const Plane& p = s.hull;
  return {p.lo_d->data(), p.flags ? p.flags->data() : nullptr};
}

bool known_at(const Plane& p, std::int64_t at, Known& k) {
  const std::size_t i = static_cast<std::size_t>(at);
  k.flags = p.flags ? (*p.flags)[i] : 0;
  k.lo = (*p.lo_d)[i];
  k.hi = (*p.hi_u)[i];
  return !(k.flags & ~any_zero) && k.lo == (*p.lo_u)[i] && k.hi == (*p.hi_d)[i] && std::isfinite(k.lo) && std::isfinite(k.hi);
}

namespace {

Set<F64> join(const Set<F64>& all, const Climbed& c) {
  const std::uint8_t keep = (all.has_reals() || !(c.flags & no_reals)) ? 0 : no_reals;
  const bool both = all.has_reals() && !(c.flags & no_reals);
  const double lo = both ? std::min(all.lo.d, c.lo) : all.has_reals() ? all.lo.d : c.lo;
  const double hi = both ? std::max(all.hi.u, c.hi) : all.has_reals() ? all.hi.u : c.hi;
  return Set<F64>::between(F64::exact(lo), F64::exact(hi), static_cast<std::uint8_t>(((all.flags | c.flags) & ~no_reals) | keep));
}

}  // namespace

Engine::Alternatives Engine::alternatives(NodeId id, std::int64_t flat) {
  ensure(id);
  Alternatives result;
  const Stored& s = *stored_[id];
  if (!s.cone) return result;
  const Cone& cone = *s.cone;
  const bool is_pair = row(graph_[id]).gather == Gather::pair;
  // The choice nearest to the root is the last step that is one.
  for (auto step = cone.steps.rbegin(); step != cone.steps.rend(); ++step) {
    if (step->variable < 0 || !step->alternatives.empty()) continue;
    result.choice = step->node;
    for (std::size_t b = 0; b < step->operands.size(); ++b) {
      Set<F64> re = Set<F64>::special(0), im = re;
      for (int a = 0; a < cone.assignments(); ++a) {
        if (cone.branch(step->variable, a) != static_cast<int>(b)) continue;
        re = join(re, climb(*this, cone, flat, a, is_pair ? cone.steps.back().operands[0] : -1));
        if (is_pair) im = join(im, climb(*this, cone, flat, a, cone.steps.back().operands[1]));
      }
      result.sets.push_back(re);
      if (is_pair) result.imag.push_back(im);
    }
    return result;
  }
  return result;
}

}  // namespace erx
