// Elementwise nodes, tile by tile: each assignment of the choices gives one set per element; equal sets are merged.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "eval/cone_output.hpp"
#include "eval/parallel.hpp"
#include "eval/rounded_input.hpp"
#include "eval/tally.hpp"
#include "eval/tile_runner.hpp"
#include "ops/clones.hpp"
#include "ops/tile.hpp"

namespace erx {
namespace {

constexpr int max_planes = 8;

/// Are all ends of the tile single numbers (0 in sets without reals), and none of its sets open to a finer tier?
ERX_VECTOR_CLONES bool is_decided(const Tile& t, std::int64_t n) {
  if (t.numbers) return true;
  std::uint64_t open = 0;
  for (std::int64_t i = 0; i < n; ++i) open |= static_cast<std::uint64_t>(t.lo_d[i] != t.lo_u[i]) | static_cast<std::uint64_t>(t.hi_d[i] != t.hi_u[i]);
  if (t.plain) return open == 0;
  for (std::int64_t i = 0; i < n; ++i)
    open |= static_cast<std::uint64_t>(t.flags[i] & undecided) | (static_cast<std::uint64_t>(t.flags[i] & no_reals) & -static_cast<std::uint64_t>((t.lo_d[i] != 0) | (t.hi_d[i] != 0)));
  return open == 0;
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

Member climbed(const Climbed& c, Tally& tally) {
  tally.add(c.by);
  return {c.lo, c.lo, c.hi, c.hi, c.flags};
}

/// A tile of which some elements are replaced.
struct Patched {
  std::array<std::array<double, tile_size>, 4> ends;
  std::array<std::uint8_t, tile_size> flags;

  template <class Replace>
  Tile tile(const Tile& t, std::int64_t count, const Replace& replace) {
    bool is_point = t.is_point, plain = true;
    for (std::int64_t i = 0; i < count; ++i) {
      Member m = member_of(t, i);
      replace(i, m);
      const std::size_t at = static_cast<std::size_t>(i);
      ends[0][at] = m.lo_d;
      ends[1][at] = m.lo_u;
      ends[2][at] = m.hi_d;
      ends[3][at] = m.hi_u;
      flags[at] = m.flags;
      is_point = is_point && m.lo_d == m.hi_d && m.lo_u == m.hi_u;
      plain = plain && m.flags == 0;
    }
    return {.lo_d = ends[0].data(), .lo_u = ends[1].data(), .hi_d = ends[2].data(), .hi_u = ends[3].data(), .flags = flags.data(), .is_point = is_point, .plain = plain};
  }
};

/// A cone without choices: one set for each element.
Plane run_single(Engine& engine, const Cone& cone, std::int64_t n, bool settle, Tally& tally, bool& is_point) {
  const EvaluateOptions& options = engine.options();
  const bool forced = options.lowest != EvaluateOptions::Tier::f64;
  const std::int64_t tile = options.tile ? std::min(options.tile, n_tile) : n_tile;
  ConeOutput out(n, tile, settle);
  const std::optional<RoundedInput> direct = settle && !forced ? RoundedInput::of(engine, cone) : std::nullopt;
  const std::int64_t run = std::min(8 * tile, RoundedInput::most);  // long enough to write past the caches at full speed
  // Many tiles per block, so that buffers are made rarely; few enough for every thread to have several.
  const std::int64_t tiles = (n + tile - 1) / tile, per_block = tile * std::clamp<std::int64_t>(tiles / (8 * thread_count(options)), 1, 128);
  parallel_blocks((n + per_block - 1) / per_block, options, [&](std::int64_t block) {
    std::optional<TileRunner> runner;
    Patched patched;
    const std::int64_t start = block * per_block, end = std::min(n, start + per_block);
    // Elements before `next_try` were rounded straight from the input, or are left to the tiles.
    std::int64_t next_try = start, misses = 0;
    bool flagged = false;  // as the run before, most likely
    for (std::int64_t first = start; first < end;) {
      stop_if_asked(options);
      if (direct && first >= next_try) {
        const std::int64_t count = std::min(run, end - first);
        const bool done = direct->put(first, count, out, flagged);
        misses = done ? 0 : std::min<std::int64_t>(misses + 1, 6);
        next_try = first + (done ? count : run << (misses - 1));  // where many runs miss, few are tried
        if (done) {
          first += count;
          continue;
        }
      }
      const std::int64_t count = std::min(tile, end - first);
      const std::int64_t at = std::exchange(first, first + count);
      if (!runner) runner.emplace(engine, cone);
      runner->start(at, count);
      const Tile& t = runner->run(0);
      if (!t.scalar && (settle ? !forced && is_decided(t, count) : t.plain || t.numbers)) {
        out.put(t, at, count);
        continue;
      }
      out.put(patched.tile(t, count, [&](std::int64_t i, Member& m) {
        if (!settle || !(forced || is_undecided(m))) return;
        stop_if_asked(options);  // an element may take milliseconds
        m = climbed(climb(engine, cone, at + i, 0), tally);
      }), at, count);
    }
    out.end_of_block();
  });
  is_point = out.is_point();
  return out.plane(options);
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
  const bool forced = options.lowest != EvaluateOptions::Tier::f64;
  Tally tally;
  const auto finished = [&] {
    s.cone = std::move(cone);
    if (settle) {
      engine.counters.big += tally.big;
      engine.counters.exact += tally.exact;
      engine.counters.open += tally.open;
      engine.counters.bulk += n - std::min<std::int64_t>(n, tally.big + tally.exact + tally.open);
    }
    finish(s);
    return std::move(s);
  };
  if (assignments == 1) {
    s.tensor.planes = {run_single(engine, cone, n, settle, tally, s.is_point)};
    return finished();
  }
  const std::size_t planes = static_cast<std::size_t>(std::min(assignments, engine.hull_is_enough(cone.root) ? 1 : max_planes));
  const auto array = [&] { return std::make_shared<Doubles>(static_cast<std::size_t>(n)); };
  std::vector<Plane> out(planes);
  for (Plane& p : out) {
    p.lo_d = array();
    p.hi_u = array();
    p.lo_u = settle ? p.lo_d : array();
    p.hi_d = settle ? p.hi_u : array();
    p.flags = std::make_shared<FlagBytes>(static_cast<std::size_t>(n), 0);
  }

  // A few tiles per block, so that buffers are made rarely.
  const std::int64_t tile = options.tile ? std::min(options.tile, n_tile) : n_tile, per_block = 16 * tile;
  parallel_blocks((n + per_block - 1) / per_block, options, [&](std::int64_t block) {
    TileRunner runner(engine, cone);
    std::vector<std::vector<Member>> members(tile_size);
    for (std::int64_t first = block * per_block; first < std::min(n, (block + 1) * per_block); first += tile) {
      stop_if_asked(options);
      const std::int64_t count = std::min(tile, n - first);
      runner.start(first, count);
      for (auto& m : members) m.clear();
      for (int a = 0; a < assignments; ++a) {
        const Tile& t = runner.run(a);
        for (std::int64_t i = 0; i < count; ++i) {
          Member m = member_of(t, i);
          if (settle && (forced || is_undecided(m))) {
            stop_if_asked(options);  // an element may take milliseconds
            m = climbed(climb(engine, cone, first + i, a), tally);
          }
          members[static_cast<std::size_t>(i)].push_back(m);
        }
      }
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
  return finished();
}

}  // namespace erx
