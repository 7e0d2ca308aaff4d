// Complex nodes: both parts in one cone, so that a choice above them is one choice for the two. Plane k of the real part and plane k
// of the imaginary part belong together: a complex number is allowed where one k holds both of its parts.
#include <algorithm>
#include <array>

#include "eval/ladder.hpp"
#include "eval/parallel.hpp"
#include "eval/tile_runner.hpp"

namespace erx {
namespace {

struct Both {
  std::array<Member, 2> part;
};

bool is_empty(const Member& m) { return (m.flags & no_reals) && !(m.flags & (has_nan | any_infinity | undecided)); }

/// Everything that `inner` allows, `outer` does too.
bool holds(const Member& outer, const Member& inner) {
  const std::uint8_t special = has_nan | any_infinity | any_zero | undecided;
  if ((inner.flags & special) & ~outer.flags) return false;
  if (inner.flags & no_reals) return true;
  return !(outer.flags & no_reals) && outer.lo_d <= inner.lo_d && outer.lo_u <= inner.lo_u && inner.hi_d <= outer.hi_d && inner.hi_u <= outer.hi_u;
}

void join(Member& into, const Member& m) {
  const auto flags = static_cast<std::uint8_t>((into.flags | m.flags) & ~no_reals);
  if (m.flags & no_reals) {
    into.flags = flags | (into.flags & no_reals);
    return;
  }
  if (into.flags & no_reals) {
    into = m;
  } else {
    into.lo_d = std::min(into.lo_d, m.lo_d);
    into.lo_u = std::min(into.lo_u, m.lo_u);
    into.hi_d = std::max(into.hi_d, m.hi_d);
    into.hi_u = std::max(into.hi_u, m.hi_u);
  }
  into.flags = flags;
}

/// Drops what another pair holds; past `limit` the rest is taken together, which only enlarges the set.
void merge(std::vector<Both>& all, std::size_t limit) {
  std::vector<Both> kept;
  for (const Both& b : all) {
    if (is_empty(b.part[0]) || is_empty(b.part[1])) continue;
    const auto within = [](const Both& outer, const Both& inner) { return holds(outer.part[0], inner.part[0]) && holds(outer.part[1], inner.part[1]); };
    if (std::any_of(kept.begin(), kept.end(), [&](const Both& k) { return within(k, b); })) continue;
    std::erase_if(kept, [&](const Both& k) { return within(b, k); });
    kept.push_back(b);
  }
  for (std::size_t k = limit; k < kept.size(); ++k)
    for (int p = 0; p < 2; ++p) join(kept[limit - 1].part[p], kept[k].part[p]);
  if (kept.size() > limit) kept.resize(limit);
  all = std::move(kept);
}

Plane new_plane(std::int64_t n, bool settle) {
  const auto array = [&] { return std::make_shared<Doubles>(static_cast<std::size_t>(n)); };
  Plane p{array(), nullptr, nullptr, array(), std::make_shared<FlagBytes>(static_cast<std::size_t>(n), no_reals)};
  p.lo_u = settle ? p.lo_d : array();
  p.hi_d = settle ? p.hi_u : array();
  return p;
}

void put(Plane& p, std::size_t e, const Member& m) {
  (*p.lo_d)[e] = m.lo_d;
  (*p.lo_u)[e] = m.lo_u;
  (*p.hi_u)[e] = m.hi_u;
  (*p.hi_d)[e] = m.hi_d;
  (*p.flags)[e] = m.flags;
}

bool is_unused(const Plane& p) {
  return std::all_of(p.flags->begin(), p.flags->end(), [](std::uint8_t f) { return f == no_reals; });
}

}  // namespace

std::array<Stored, 2> run_parts(Engine& engine, const Cone& cone) {
  const Node& node = engine.graph()[cone.root];
  const EvaluateOptions& options = engine.options();
  const bool settle = settles(node.type), forced = options.lowest != EvaluateOptions::Tier::f64;
  const std::int64_t n = size_of(cone.extents);
  const int assignments = cone.assignments();
  // All assignments are kept apart, unless that took gigabytes.
  const auto most = std::clamp<std::int64_t>((std::int64_t{1} << 26) / std::max<std::int64_t>(n, 1), 8, Cone::max_assignments);
  const auto planes = static_cast<std::size_t>(std::min<std::int64_t>(assignments, most));
  std::array<std::vector<Plane>, 2> out;
  for (auto& part : out)
    for (std::size_t k = 0; k < planes; ++k) part.push_back(new_plane(n, settle));
  const std::vector<int> slots = cone.steps.back().operands;

  std::atomic<std::int64_t> big{0}, exact{0}, open{0};
  std::atomic<bool> all_points{true};
  const std::int64_t tile = options.tile ? std::min(options.tile, n_tile) : n_tile, per_block = 16 * tile;
  parallel_blocks((n + per_block - 1) / per_block, options, [&](std::int64_t block) {
    TileRunner runner(engine, cone);
    std::vector<std::vector<Both>> members(tile_size);
    for (std::int64_t first = block * per_block; first < std::min(n, (block + 1) * per_block); first += tile) {
      stop_if_asked(options);
      const std::int64_t count = std::min(tile, n - first);
      runner.start(first, count);
      for (auto& m : members) m.clear();
      for (int a = 0; a < assignments; ++a) {
        runner.run(a);
        for (int p = 0; p < 2; ++p) {
          const Tile& t = runner.slot(slots[static_cast<std::size_t>(p)]);
          if (!t.is_point) all_points.store(false, std::memory_order_relaxed);
          for (std::int64_t i = 0; i < count; ++i) {
            Member m = member_of(t, i);
            if (settle && (forced || is_undecided(m))) {
              stop_if_asked(options);  // an element may take milliseconds
              const Climbed c = climb(engine, cone, first + i, a, slots[static_cast<std::size_t>(p)]);
              m = {c.lo, c.lo, c.hi, c.hi, c.flags};
              if (c.lo != c.hi) all_points.store(false, std::memory_order_relaxed);
              ++(c.by == Climbed::By::big ? big : c.by == Climbed::By::exact ? exact : open);
            }
            if (assignments == 1) {
              put(out[static_cast<std::size_t>(p)][0], static_cast<std::size_t>(first + i), m);
            } else {
              auto& at = members[static_cast<std::size_t>(i)];
              if (p == 0) at.push_back({});
              at.back().part[static_cast<std::size_t>(p)] = m;
            }
          }
        }
      }
      if (assignments == 1) continue;
      for (std::int64_t i = 0; i < count; ++i) {
        auto& m = members[static_cast<std::size_t>(i)];
        merge(m, planes);
        for (std::size_t k = 0; k < m.size(); ++k)
          for (std::size_t p = 0; p < 2; ++p) put(out[p][k], static_cast<std::size_t>(first + i), m[k].part[p]);
      }
    }
  });
  while (out[0].size() > 1 && is_unused(out[0].back()) && is_unused(out[1].back())) {
    out[0].pop_back();
    out[1].pop_back();
  }

  std::array<Stored, 2> parts;
  for (std::size_t p = 0; p < 2; ++p) {
    parts[p].tensor.type = node.type.part();
    parts[p].tensor.extents = cone.extents;
    parts[p].tensor.planes = std::move(out[p]);
    parts[p].is_point = parts[p].tensor.planes.size() == 1 && all_points && assignments == 1;
    finish(parts[p]);
  }
  for (Stored& part : parts) part.tensor.settled = settle;
  if (settle) {
    engine.counters.big += big;
    engine.counters.exact += exact;
    engine.counters.open += open;
    engine.counters.bulk += 2 * n - std::min<std::int64_t>(2 * n, big + exact + open);
  }
  return parts;
}

Stored run_pair(Engine& engine, Cone cone) {
  std::array<Stored, 2> parts = run_parts(engine, cone);
  Stored s = std::move(parts[0]);
  s.tensor.type = engine.graph()[cone.root].type;
  s.tensor.imag = std::move(parts[1].tensor.planes);
  s.cone = std::move(cone);
  return s;
}

}  // namespace erx
