// Elementwise nodes, tile by tile: each assignment of the choices gives one set per element; equal sets are merged.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "eval/ladder.hpp"
#include "eval/parallel.hpp"
#include "eval/tile_runner.hpp"
#include "ops/clones.hpp"
#include "ops/tile.hpp"

namespace erx {
namespace {

constexpr int max_planes = 8;

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
  const std::size_t planes = static_cast<std::size_t>(std::min(assignments, engine.hull_is_enough(cone.root) ? 1 : max_planes));
  const bool forced = options.lowest != EvaluateOptions::Tier::f64;

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
  const std::int64_t tile = options.tile ? std::min(options.tile, n_tile) : n_tile, per_block = 16 * tile;
  parallel_blocks((n + per_block - 1) / per_block, options, [&](std::int64_t block) {
    TileRunner runner(engine, cone);
    std::vector<std::vector<Member>> members(assignments > 1 ? tile_size : 0);
    for (std::int64_t first = block * per_block; first < std::min(n, (block + 1) * per_block); first += tile) {
      stop_if_asked(options);
      const std::int64_t count = std::min(tile, n - first);
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
          Member m = member_of(t, i);
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
