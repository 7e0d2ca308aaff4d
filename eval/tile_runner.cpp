#include "eval/tile_runner.hpp"

#include "ops/number_tile.hpp"
#include "ops/rounding.hpp"

namespace erx {

TileRunner::TileRunner(const Engine& engine, const Cone& cone)
    : engine_(engine), cone_(cone), buffer_of_(cone.slots()), fused_(cone.slots(), alone), tiles_(cone.slots()), key_(cone.slots(), -1) {
  for (int a = 0; a < cone.assignments(); ++a) needed_.push_back(cone.needed(a));
  depends_.resize(cone.slots());
  const int first_step = static_cast<int>(cone.loads.size());
  for (int slot = 0; slot < cone.slots(); ++slot) {
    std::uint64_t mask = 0;
    if (slot < first_step) {
      if (cone.loads[slot].variable >= 0) mask |= std::uint64_t{1} << cone.loads[slot].variable;
    } else {
      const Cone::Step& step = cone.steps[slot - first_step];
      if (step.variable >= 0) mask |= std::uint64_t{1} << step.variable;
      for (int o : step.operands) mask |= depends_[o];
    }
    depends_[slot] = mask;
  }
  fuse();
  assign_buffers();
}

/// A rounding with one result, with the operation before it where nothing else reads that.
void TileRunner::fuse() {
  const int first_step = static_cast<int>(cone_.loads.size());
  std::vector<int> uses(cone_.slots(), 0);
  for (const Cone::Step& s : cone_.steps)
    for (const int o : s.operands) ++uses[o];
  for (int slot = first_step; slot < cone_.slots(); ++slot) {
    const Cone::Step& s = cone_.steps[slot - first_step];
    const Node& node = engine_.graph()[s.node];
    if (!row(node).rounds_operand || s.variable >= 0 || rounds_freely(node.attributes.rounding)) continue;
    fused_[slot] = slot;
    const int before = s.operands[0];
    if (before < first_step || uses[before] != 1) continue;
    const Cone::Step& operation = cone_.steps[before - first_step];
    const Op& op = row(engine_.graph()[operation.node]);
    if (operation.variable >= 0 || operation.branch >= 0 || op.rounds_operand || !op.rounded) continue;
    fused_[slot] = before;
    fused_[before] = no_step;
  }
}

/// Where every slot is computed once, slots whose last reader has run give their arrays to the next ones: what is read stays in the cache.
void TileRunner::assign_buffers() {
  const int first_step = static_cast<int>(cone_.loads.size()), n = cone_.slots();
  bool once = cone_.assignments() == 1;
  for (const Cone::Step& s : cone_.steps) once = once && s.variable < 0 && s.branch < 0 && row(engine_.graph()[s.node]).gather == Gather::map;
  int count = 0;
  if (!once) {
    for (int slot = 0; slot < n; ++slot) buffer_of_[slot] = count++;
  } else {
    std::vector<int> last(n, n);
    for (int slot = first_step; slot < n; ++slot)
      for (const int o : cone_.steps[slot - first_step].operands) last[o] = slot;
    for (int slot = first_step; slot < n; ++slot)  // what a fused operation reads is read when its rounding runs
      if (fused_[slot] >= 0)
        for (const int o : cone_.steps[fused_[slot] - first_step].operands) last[o] = std::max(last[o], slot);
    std::vector<int> free;
    for (int slot = 0; slot < n; ++slot) {
      if (free.empty()) {
        buffer_of_[slot] = count++;
      } else {
        buffer_of_[slot] = free.back();
        free.pop_back();
      }
      for (int o = 0; o < slot; ++o)
        if (last[o] == slot) free.push_back(buffer_of_[o]);
    }
  }
  buffers_.resize(static_cast<std::size_t>(count));
}

void TileRunner::start(std::int64_t first, std::int64_t count) {
  first_ = first;
  count_ = count;
  std::fill(key_.begin(), key_.end(), -1);
}

const Tile& TileRunner::run(int assignment) {
  const int first_step = static_cast<int>(cone_.loads.size());
  for (int slot : needed_[assignment]) {
    const std::int64_t key = key_of(slot, assignment);
    if (key_[slot] == key) continue;
    key_[slot] = key;
    if (slot < first_step) load(slot, assignment);
    else if (const int before = fused_[slot]; before == alone) step(slot, assignment);
    else if (before != no_step && !rounded_step(slot, before, assignment)) {
      if (before != slot) step(before, assignment);
      step(slot, assignment);
    }
  }
  return tiles_.back();
}

std::int64_t TileRunner::key_of(int slot, int assignment) const {
  std::int64_t key = 0, place = 1;
  for (std::size_t v = 0; v < cone_.alternatives.size(); ++v) {
    if (depends_[slot] >> v & 1) key += place * cone_.branch(static_cast<int>(v), assignment);
    place *= cone_.alternatives[v];
  }
  return key;
}

template <class T>
void TileRunner::gather(const View& view, const T* from, T* to) const {
  const std::size_t rank = view.extents.size();
  Extents index(rank);
  std::int64_t rest = first_, at = view.offset;
  for (std::size_t k = rank; k-- > 0;) {
    index[k] = rest % view.extents[k];
    rest /= view.extents[k];
    at += index[k] * view.strides[k];
  }
  const std::int64_t inner = view.extents[rank - 1], step = view.strides[rank - 1];
  for (std::int64_t i = 0; i < count_;) {
    const std::int64_t run = std::min(inner - index[rank - 1], count_ - i);
    for (std::int64_t j = 0; j < run; ++j) to[i + j] = from[at + j * step];
    i += run;
    at += run * step;
    index[rank - 1] += run;
    for (std::size_t k = rank; k-- > 0 && index[k] == view.extents[k];) {
      at -= view.extents[k] * view.strides[k];
      index[k] = 0;
      if (k > 0) {
        ++index[k - 1];
        at += view.strides[k - 1];
      }
    }
  }
}

/// The elements of an input as they are decoded.
void TileRunner::load_in_place(int slot, const Tensor& tensor) {
  Tile& t = tiles_[slot];
  Buffer& b = buffer(slot);
  const auto n = static_cast<std::size_t>(count_);
  t = Tile{};
  t.flags = b.flags.get();
  Decoded found = Decoded::special;
  // Doubles side by side are read where they are; a special value has to be written over.
  const std::optional<Elements> elements = tensor.elements();
  const double* const doubles = reinterpret_cast<const double*>(tensor.data) + first_;
  if (elements && elements->kind == Elements::Kind::f64 && reinterpret_cast<std::uintptr_t>(tensor.data) % alignof(double) == 0) found = look_at(doubles, n);
  if (found == Decoded::special) {
    t.lo_d = b.array(0);
    tensor.decode(first_, count_, t.lo_d);
    found = fill_flags(t.lo_d, t.flags, n);
  } else {
    t.lo_d = const_cast<double*>(doubles);
    if (found == Decoded::numbers) zero_flags(doubles, t.flags, n);
  }
  t.lo_u = t.hi_d = t.hi_u = t.lo_d;
  t.plain = found == Decoded::nonzero;
  t.numbers = found != Decoded::special;
}

void TileRunner::load(int slot, int assignment) {
  const Cone::Load& l = cone_.loads[slot];
  const Stored& stored = engine_.stored(l.node);
  if (stored.in_place) return load_in_place(slot, *stored.in_place);
  const Plane& p = l.variable < 0 ? stored.hull : stored.tensor.planes[cone_.branch(l.variable, assignment)];
  Tile& t = tiles_[slot];
  Buffer& b = buffer(slot);
  t = Tile{};
  t.is_point = p.hi_d == p.lo_d && p.hi_u == p.lo_u;
  t.plain = !p.flags;
  t.scalar = std::all_of(l.view.strides.begin(), l.view.strides.end(), [](std::int64_t s) { return s == 0; }) && count_ > 0;
  const bool direct = t.scalar || l.view.strides == contiguous_strides(l.view.extents);
  const std::int64_t at = l.view.offset + (t.scalar ? 0 : first_);
  const Plane::Array* arrays[] = {&p.lo_d, &p.lo_u, &p.hi_d, &p.hi_u};
  double** ends[] = {&t.lo_d, &t.lo_u, &t.hi_d, &t.hi_u};
  t.flags = b.flags.get();
  const std::size_t n = t.scalar ? 1 : static_cast<std::size_t>(count_);
  if (direct) {
    for (int k = 0; k < 4; ++k) *ends[k] = (*arrays[k])->data() + at;
    if (p.flags) t.flags = p.flags->data() + at;
  } else {
    for (int k = 0; k < 4; ++k) {
      // Shared arrays are gathered once.
      int twin = 0;
      while (*arrays[twin] != *arrays[k]) ++twin;
      *ends[k] = b.array(twin);
      if (twin == k) gather(l.view, (*arrays[k])->data(), b.array(k));
    }
    if (p.flags) gather(l.view, p.flags->data(), b.flags.get());
  }
  t.plain = t.plain || all_flags_zero(t.flags, n);
  t.numbers = are_numbers(t, n);
}

void TileRunner::step(int slot, int assignment) {
  const Cone::Step& s = cone_.steps[slot - static_cast<int>(cone_.loads.size())];
  if (const int branch = cone_.passes(s, assignment); branch >= 0) {
    tiles_[slot] = tiles_[s.operands[branch]];
    return;
  }
  const Node& node = engine_.graph()[s.node];
  const Op& op = row(node);
  if (op.gather == Gather::pair) return;  // its parts are read in their own slots
  operands_.clear();
  const Attributes& attributes = cone_.attributes(s, node, assignment);
  bool is_point = !(op.freedom && op.freedom(attributes)) && attributes.rounding.flush == Flush::no;
  for (int o : s.operands) {
    operands_.push_back(tiles_[o]);
    is_point &= tiles_[o].is_point;
  }
  Buffer& b = buffer(slot);
  Tile& t = tiles_[slot];
  t = Tile{};
  t.lo_d = b.array(0);
  t.lo_u = b.array(1);
  t.hi_d = is_point ? t.lo_d : b.array(2);
  t.hi_u = is_point ? t.lo_u : b.array(3);
  t.flags = b.flags.get();
  t.is_point = is_point;
  const auto n = static_cast<std::size_t>(count_);
  op.bulk(operands_, t, n, attributes);
  if (is_point) settle_point(t, n);
  else t.plain = all_flags_zero(t.flags, n);
}

/// A rounding and the operation before it at once, or (before == slot) a rounding of single numbers. returns: false if it has to be done by `step`.
bool TileRunner::rounded_step(int slot, int before, int assignment) {
  const int first_step = static_cast<int>(cone_.loads.size());
  const Cone::Step &s = cone_.steps[before - first_step], &rounding = cone_.steps[slot - first_step];
  const Node& node = engine_.graph()[s.node];
  operands_.clear();
  for (int o : s.operands) operands_.push_back(tiles_[o]);
  Buffer& b = buffer(slot);
  Tile t;
  t.lo_d = t.hi_d = b.array(0);
  t.lo_u = t.hi_u = b.array(1);
  t.flags = b.flags.get();
  const auto n = static_cast<std::size_t>(count_);
  const Attributes& rounds = engine_.graph()[rounding.node].attributes;
  const RoundedTile made = row(node).rounded(operands_, t, n, cone_.attributes(s, node, assignment), rounds);
  if (made == RoundedTile::none) return false;
  if (made == RoundedTile::sets) {
    settle_point(t, n);
  } else {
    t.lo_u = t.hi_d = t.hi_u = t.lo_d;
    t.plain = made == RoundedTile::nonzero;
    t.numbers = true;
  }
  tiles_[slot] = t;
  return true;
}

}  // namespace erx
