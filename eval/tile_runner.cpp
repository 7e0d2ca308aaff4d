#include "eval/tile_runner.hpp"

namespace erx {

TileRunner::TileRunner(const Engine& engine, const Cone& cone)
    : engine_(engine), cone_(cone), buffers_(cone.slots()), tiles_(cone.slots()), key_(cone.slots(), -1) {
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
    else step(slot, cone_.steps[slot - first_step], assignment);
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

void TileRunner::load(int slot, int assignment) {
  const Cone::Load& l = cone_.loads[slot];
  const Stored& stored = engine_.stored(l.node);
  const Plane& p = l.variable < 0 ? stored.hull : stored.tensor.planes[cone_.branch(l.variable, assignment)];
  Tile& t = tiles_[slot];
  Buffer& b = buffers_[slot];
  t = Tile{};
  t.is_point = p.hi_d == p.lo_d && p.hi_u == p.lo_u;
  t.plain = !p.flags;
  t.scalar = std::all_of(l.view.strides.begin(), l.view.strides.end(), [](std::int64_t s) { return s == 0; }) && count_ > 0;
  const bool direct = t.scalar || l.view.strides == contiguous_strides(l.view.extents);
  const std::int64_t at = l.view.offset + (t.scalar ? 0 : first_);
  const Plane::Array* arrays[] = {&p.lo_d, &p.lo_u, &p.hi_d, &p.hi_u};
  double** ends[] = {&t.lo_d, &t.lo_u, &t.hi_d, &t.hi_u};
  t.flags = b.flags.data();
  if (direct) {
    for (int k = 0; k < 4; ++k) *ends[k] = (*arrays[k])->data() + at;
    if (p.flags) t.flags = p.flags->data() + at;
    return;
  }
  for (int k = 0; k < 4; ++k) {
    // Shared arrays are gathered once.
    int twin = 0;
    while (*arrays[twin] != *arrays[k]) ++twin;
    *ends[k] = b.array(twin);
    if (twin == k) gather(l.view, (*arrays[k])->data(), b.array(k));
  }
  if (p.flags) gather(l.view, p.flags->data(), b.flags.data());
}

void TileRunner::step(int slot, const Cone::Step& s, int assignment) {
  if (const int branch = cone_.passes(s, assignment); branch >= 0) {
    tiles_[slot] = tiles_[s.operands[branch]];
    return;
  }
  const Node& node = engine_.graph()[s.node];
  const Op& op = row(node);
  if (op.gather == Gather::pair) return;  // its parts are read in their own slots
  std::vector<Tile> operands;
  const Attributes& attributes = cone_.attributes(s, node, assignment);
  bool is_point = !(op.freedom && op.freedom(attributes)) && attributes.rounding.flush == Flush::no;
  for (int o : s.operands) {
    operands.push_back(tiles_[o]);
    is_point &= tiles_[o].is_point;
  }
  Buffer& b = buffers_[slot];
  Tile& t = tiles_[slot];
  t = Tile{};
  t.lo_d = b.array(0);
  t.lo_u = b.array(1);
  t.hi_d = is_point ? t.lo_d : b.array(2);
  t.hi_u = is_point ? t.lo_u : b.array(3);
  t.flags = b.flags.data();
  t.is_point = is_point;
  op.bulk(operands, t, static_cast<std::size_t>(count_), attributes);
  t.plain = std::all_of(t.flags, t.flags + count_, [](std::uint8_t f) { return f == 0; });
}

}  // namespace erx
