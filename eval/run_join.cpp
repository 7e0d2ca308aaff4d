// Tensors one after the other along an axis: their planes are copied, an element that climbs is the operand's.
#include <algorithm>

#include "eval/engine.hpp"

namespace erx {

std::pair<NodeId, std::int64_t> Join::source(std::int64_t flat) const {
  std::int64_t whole = 0;
  for (const std::int64_t length : lengths) whole += length;
  std::int64_t place = flat / inner % whole;
  const std::int64_t out = flat / (inner * whole), in = flat % inner;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (place < lengths[k]) return {nodes[k], (out * lengths[k] + place) * inner + in};
    place -= lengths[k];
  }
  throw Bug("an element beyond what was joined");
}

namespace {

/// Copies each operand's part; `part(k)` gives its elements, or null for `missing`.
template <class T, class Part>
void join_parts(const Join& join, const Part& part, T missing, T* out) {
  std::int64_t whole = 0;
  for (const std::int64_t length : join.lengths) whole += length;
  std::int64_t before = 0;
  for (std::size_t k = 0; k < join.nodes.size(); ++k) {
    const T* from = part(k);
    const std::int64_t chunk = join.lengths[k] * join.inner;
    for (std::int64_t o = 0; o < join.outer; ++o) {
      T* to = out + (o * whole + before) * join.inner;
      if (from) std::copy_n(from + o * chunk, chunk, to);
      else std::fill_n(to, chunk, missing);
    }
    before += join.lengths[k];
  }
}

}  // namespace

Stored run_join(Engine& engine, NodeId id) {
  const Node& node = engine.graph()[id];
  const auto axis = static_cast<std::size_t>(node.attributes.axes.at(0));
  Stored s;
  s.tensor.type = node.type;
  s.tensor.extents = extents_of(node.shape);
  Join join{node.operands, {}, 1, 1};
  for (std::size_t k = 0; k < axis; ++k) join.outer *= s.tensor.extents[k];
  for (std::size_t k = axis + 1; k < s.tensor.extents.size(); ++k) join.inner *= s.tensor.extents[k];
  std::size_t planes = 1;
  s.is_point = s.tensor.settled = true;
  for (NodeId operand : node.operands) {
    const Stored& x = engine.stored(operand);
    join.lengths.push_back(x.tensor.extents[axis]);
    planes = std::max(planes, x.tensor.planes.size());
    s.is_point &= x.is_point;
    s.tensor.settled &= x.tensor.settled;
  }
  const std::size_t n = static_cast<std::size_t>(s.tensor.size());
  for (std::size_t p = 0; p < planes; ++p) {
    const auto plane_of = [&](std::size_t k) -> const Plane* {
      const auto& all = engine.stored(join.nodes[k]).tensor.planes;
      return p < all.size() ? &all[p] : nullptr;
    };
    const auto joined = [&](Plane::Array Plane::*array) {
      auto values = std::make_shared<Doubles>(n);
      join_parts(join, [&](std::size_t k) { return plane_of(k) ? (plane_of(k)->*array)->data() : nullptr; }, 0.0, values->data());
      return values;
    };
    Plane out{joined(&Plane::lo_d), nullptr, nullptr, joined(&Plane::hi_u), std::make_shared<FlagBytes>(n, 0)};
    out.lo_u = joined(&Plane::lo_u);
    out.hi_d = joined(&Plane::hi_d);
    // An operand of fewer alternatives has no value here.
    std::vector<std::vector<std::uint8_t>> plain;
    for (std::size_t k = 0; k < join.nodes.size(); ++k)
      plain.emplace_back(plane_of(k) && !plane_of(k)->flags ? static_cast<std::size_t>(engine.stored(join.nodes[k]).tensor.size()) : 0, std::uint8_t{0});
    join_parts(
        join,
        [&](std::size_t k) -> const std::uint8_t* {
          if (!plane_of(k)) return nullptr;
          return plane_of(k)->flags ? plane_of(k)->flags->data() : plain[k].data();
        },
        static_cast<std::uint8_t>(no_reals), out.flags->data());
    s.tensor.planes.push_back(std::move(out));
  }
  s.join = std::move(join);
  finish(s);
  return s;
}

}  // namespace erx
