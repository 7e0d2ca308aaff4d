// Elementwise nodes, tile by tile: each assignment of the choices gives one set per element; equal sets are merged.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "eval/engine.hpp"
#include "eval/ladder.hpp"
#include "eval/parallel.hpp"
#include "ops/clones.hpp"
#include "ops/tile.hpp"

namespace erx {
namespace {

constexpr int max_planes = 8;
constexpr std::int64_t n_tile = static_cast<std::int64_t>(tile_size);

/// Arrays of one slot.
struct Buffer {
  std::vector<double> values = std::vector<double>(4 * tile_size);
  std::vector<std::uint8_t> flags = std::vector<std::uint8_t>(tile_size, 0);
  double* array(int k) { return values.data() + k * n_tile; }
};

/// One element under one assignment.
struct Member {
  double lo_d, lo_u, hi_d, hi_u;
  std::uint8_t flags;
};

class TileRunner {
 public:
  TileRunner(const Engine& engine, const Cone& cone) : engine_(engine), cone_(cone), buffers_(cone.slots()), tiles_(cone.slots()), key_(cone.slots(), -1) {
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

  void start(std::int64_t first, std::int64_t count) {
    first_ = first;
    count_ = count;
    std::fill(key_.begin(), key_.end(), -1);
  }

  /// The root's tile under an assignment; slots whose choices have not changed are kept.
  const Tile& run(int assignment) {
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

 private:
  const Engine& engine_;
  const Cone& cone_;
  std::vector<Buffer> buffers_;
  std::vector<Tile> tiles_;
  std::vector<std::int64_t> key_;
  std::vector<std::uint64_t> depends_;
  std::vector<std::vector<int>> needed_;
  std::int64_t first_ = 0, count_ = 0;

  std::int64_t key_of(int slot, int assignment) const {
    std::int64_t key = 0, place = 1;
    for (std::size_t v = 0; v < cone_.alternatives.size(); ++v) {
      if (depends_[slot] >> v & 1) key += place * cone_.branch(static_cast<int>(v), assignment);
      place *= cone_.alternatives[v];
    }
    return key;
  }

  void load(int slot, int assignment) {
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

  template <class T>
  void gather(const View& view, const T* from, T* to) const {
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

  void step(int slot, const Cone::Step& s, int assignment) {
    if (const int branch = cone_.passes(s, assignment); branch >= 0) {
      tiles_[slot] = tiles_[s.operands[branch]];
      return;
    }
    const Node& node = engine_.graph()[s.node];
    const Op& op = row(node);
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
};

bool is_undecided(const Member& m) {
  return (m.flags & undecided) || (!(m.flags & no_reals) && (m.lo_d != m.lo_u || m.hi_d != m.hi_u));
}

/// Are all ends of the tile single numbers, and none of its sets empty or open to a finer tier?
ERX_VECTOR_CLONES bool is_decided(const Tile& t, std::int64_t n) {
  std::uint64_t open = 0;
  for (std::int64_t i = 0; i < n; ++i) open |= static_cast<std::uint64_t>(t.lo_d[i] != t.lo_u[i]) | static_cast<std::uint64_t>(t.hi_d[i] != t.hi_u[i]);
  if (t.plain) return open == 0;
  std::uint8_t flags = 0;
  for (std::int64_t i = 0; i < n; ++i) flags |= t.flags[i];
  return open == 0 && !(flags & (undecided | no_reals));
}

/// Sorted, disjoint members; special values go to the first one. At most `limit`: the narrowest gaps close.
void merge(std::vector<Member>& all, std::size_t limit) {
  std::uint8_t special = 0;
  std::vector<Member> reals;
  for (const Member& m : all) {
    special |= m.flags & (has_nan | any_infinity | undecided);
    if (!(m.flags & no_reals)) reals.push_back(m);
  }
  std::sort(reals.begin(), reals.end(), [](const Member& a, const Member& b) { return a.lo_d < b.lo_d; });
  const auto join = [](Member& into, const Member& m) {
    into.lo_u = std::min(into.lo_u, m.lo_u);
    into.hi_d = std::max(into.hi_d, m.hi_d);
    into.hi_u = std::max(into.hi_u, m.hi_u);
    into.flags |= m.flags & any_zero;
  };
  std::vector<Member> merged;
  for (Member m : reals) {
    m.flags &= any_zero;
    if (!merged.empty() && m.lo_d <= merged.back().hi_u) join(merged.back(), m);
    else merged.push_back(m);
  }
  while (merged.size() > limit) {
    std::size_t narrowest = 1;
    for (std::size_t k = 2; k < merged.size(); ++k)
      if (merged[k].lo_d - merged[k - 1].hi_u < merged[narrowest].lo_d - merged[narrowest - 1].hi_u) narrowest = k;
    join(merged[narrowest - 1], merged[narrowest]);
    merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(narrowest));
  }
  if (merged.empty()) merged.push_back({0, 0, 0, 0, no_reals});
  merged[0].flags |= special;
  all = std::move(merged);
}

}  // namespace

Stored run_cone(Engine& engine, Cone cone) {
  const Node& node = engine.graph()[cone.root];
  const EvaluateOptions& options = engine.options();
  Stored s;
  s.tensor.type = node.type;
  s.tensor.extents = cone.extents;
  const bool settle = settles(node.type);
  s.tensor.settled = settle;
  const std::int64_t n = s.tensor.size();
  const int assignments = cone.assignments();
  const std::size_t planes = static_cast<std::size_t>(std::min(assignments, max_planes));
  const bool forced = options.lowest != EvaluateOptions::Tier::all;

  const auto array = [&] { return std::make_shared<Doubles>(static_cast<std::size_t>(n)); };
  std::vector<Plane> out(planes);
  for (Plane& p : out) {
    p.lo_d = array();
    p.hi_u = array();
    p.lo_u = settle ? p.lo_d : array();
    p.hi_d = settle ? p.hi_u : array();
    p.flags = std::make_shared<FlagBytes>(static_cast<std::size_t>(n), 0);
  }
  std::atomic<std::int64_t> big{0}, exact{0}, open{0};
  std::atomic<bool> all_points{true};

  // A few tiles per block, so that buffers are made rarely.
  const std::int64_t per_block = 16 * n_tile;
  parallel_blocks((n + per_block - 1) / per_block, options, [&](std::int64_t block) {
    TileRunner runner(engine, cone);
    std::vector<std::vector<Member>> members(assignments > 1 ? tile_size : 0);
    for (std::int64_t first = block * per_block; first < std::min(n, (block + 1) * per_block); first += n_tile) {
      stop_if_asked(options);
      const std::int64_t count = std::min(n_tile, n - first);
      runner.start(first, count);
      for (auto& m : members) m.clear();
      for (int a = 0; a < assignments; ++a) {
        const Tile& t = runner.run(a);
        if (!t.is_point) all_points.store(false, std::memory_order_relaxed);
        if (assignments == 1 && settle && !forced && !t.scalar && is_decided(t, count)) {
          std::copy(t.lo_d, t.lo_d + count, out[0].lo_d->data() + first);
          std::copy(t.hi_u, t.hi_u + count, out[0].hi_u->data() + first);
          if (t.plain) std::fill_n(out[0].flags->data() + first, count, std::uint8_t{0});
          else std::copy(t.flags, t.flags + count, out[0].flags->data() + first);
          continue;
        }
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t at = t.scalar ? 0 : i;
          Member m{t.lo_d[at], t.lo_u[at], t.hi_d[at], t.hi_u[at], t.plain ? std::uint8_t{0} : t.flags[at]};
          if (m.flags & no_reals) m.lo_d = m.lo_u = m.hi_d = m.hi_u = 0;
          if (settle && (forced || is_undecided(m))) {
            stop_if_asked(options);  // an element may take milliseconds
            const Climbed c = climb(engine, cone, first + i, a);
            m = {c.lo, c.lo, c.hi, c.hi, c.flags};
            if (c.lo != c.hi) all_points.store(false, std::memory_order_relaxed);
            ++(c.by == Climbed::By::big ? big : c.by == Climbed::By::exact ? exact : open);
          }
          if (assignments > 1) {
            members[static_cast<std::size_t>(i)].push_back(m);
            continue;
          }
          const std::size_t e = static_cast<std::size_t>(first + i);
          (*out[0].lo_d)[e] = m.lo_d;
          (*out[0].lo_u)[e] = m.lo_u;
          (*out[0].hi_u)[e] = m.hi_u;
          (*out[0].hi_d)[e] = m.hi_d;
          (*out[0].flags)[e] = m.flags;
        }
      }
      if (assignments == 1) continue;
      for (std::int64_t i = 0; i < count; ++i) {
        auto& m = members[static_cast<std::size_t>(i)];
        merge(m, planes);
        const std::size_t e = static_cast<std::size_t>(first + i);
        for (std::size_t k = 0; k < planes; ++k) {
          const Member x = k < m.size() ? m[k] : Member{0, 0, 0, 0, no_reals};
          (*out[k].lo_d)[e] = x.lo_d;
          (*out[k].lo_u)[e] = x.lo_u;
          (*out[k].hi_d)[e] = x.hi_d;
          (*out[k].hi_u)[e] = x.hi_u;
          (*out[k].flags)[e] = x.flags;
        }
      }
    }
  });

  // Planes that no element uses are dropped.
  while (out.size() > 1 && std::all_of(out.back().flags->begin(), out.back().flags->end(), [](std::uint8_t f) { return f == no_reals; })) out.pop_back();
  s.tensor.planes = std::move(out);
  s.is_point = s.tensor.planes.size() == 1 && all_points && assignments == 1;
  s.cone = std::move(cone);
  if (settle) {
    engine.counters.big += big;
    engine.counters.exact += exact;
    engine.counters.open += open;
    engine.counters.bulk += n - std::min<std::int64_t>(n, big + exact + open);
  }
  finish(s);
  return s;
}

}  // namespace erx
