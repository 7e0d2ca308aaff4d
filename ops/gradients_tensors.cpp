// Gradients of reductions, products of matrices and layout. source: the transpose of each linear map; the product rule.
#include <algorithm>
#include <numeric>

#include "ops/gradients.hpp"

namespace erx::gradients {

using B = GradientBuilder;

namespace {

constexpr Slice whole{Slice::Kind::range, 0, 1, -1}, turned{Slice::Kind::range, 0, -1, -1}, added{Slice::Kind::new_axis, 0, 1, 0};

bool is_masked(B& b, NodeId node) { return b.attributes(node).masked; }

/// What flows to the elements that are there.
NodeId present(B& b, NodeId node, NodeId flow) { return is_masked(b, node) ? b.kept_if(b.operand(node, 1), flow) : flow; }

NodeId flipped(B& b, NodeId x, std::size_t axis) {
  std::vector<Slice> slices(b.rank(x), whole);
  slices[axis] = turned;
  return b.indexed(x, std::move(slices));
}

/// The order of axes that puts `axes` last.
std::vector<std::int64_t> last_order(std::size_t rank, const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> order;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(rank); ++k)
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) order.push_back(k);
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> back(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) back[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
  return back;
}

/// x with the axes of a reduction as one last axis, of n elements; and back.
struct Line {
  std::vector<std::int64_t> order;
  Shape moved, line;
  Dim n = Dim(1);

  Line(B& b, NodeId x, const std::vector<std::int64_t>& axes) : order(last_order(b.rank(x), axes)) {
    const Shape from = b.shape(x);
    for (std::int64_t k : order) moved.push_back(from[static_cast<std::size_t>(k)]);
    line.assign(moved.begin(), moved.end() - static_cast<std::ptrdiff_t>(axes.size()));
    for (std::int64_t k : axes) n = n * from[static_cast<std::size_t>(k)];
    line.push_back(n);
  }
  NodeId of(B& b, NodeId x) const { return b.reshaped(b.transposed(x, order), line); }
  NodeId back(B& b, NodeId x) const { return b.transposed(b.reshaped(x, moved), inverse(order)); }
};

std::vector<Slice> with_new(std::size_t rank, std::size_t before_last) {
  std::vector<Slice> slices(rank, whole);
  slices.insert(slices.end() - static_cast<std::ptrdiff_t>(before_last), added);
  return slices;
}

NodeId not_equal(B& b, NodeId x, NodeId y) { return b.call("ne", {x, y}); }

/// The mask of a node broadcast to its operand and laid out as `line`, with a new axis before the last.
std::optional<NodeId> mask_line(B& b, NodeId node, const Line& line) {
  if (!is_masked(b, node)) return {};
  return line.of(b, b.broadcast_to(b.operand(node, 1), b.shape(b.operand(node, 0))));
}

}  // namespace

Flow sum(B& b, NodeId node, NodeId up, std::size_t k) {
  if (k > 0) return {};
  return present(b, node, b.broadcast_to(b.with_axes(up, node), b.shape(b.operand(node, 0))));
}

Flow cumsum(B& b, NodeId node, NodeId up, std::size_t k) {
  if (k > 0) return {};
  const auto axis = static_cast<std::size_t>(b.attributes(node).axes[0]);
  Attributes along;
  along.axes = {static_cast<std::int64_t>(axis)};
  return present(b, node, flipped(b, b.call("cumsum", {flipped(b, up, axis)}, along), axis));
}

/// Equal extremes share.
Flow extremum(B& b, NodeId node, NodeId up, std::size_t k) {
  if (k > 0) return {};
  const NodeId x = b.operand(node, 0);
  const auto axes = b.attributes(node).axes;
  NodeId is_extreme = b.call("eq", {x, b.with_axes(node, node)});
  if (is_masked(b, node)) is_extreme = b.call("and", {is_extreme, b.operand(node, 1)});
  const NodeId count = b.reduced("sum", is_extreme, axes, true);
  return b.kept_if(is_extreme, b.call("div", {b.with_axes(up, node), count}));
}

/// The product of the others, written as a masked product: an element that is 0 is no trouble.
Flow prod(B& b, NodeId node, NodeId up, std::size_t k) {
  if (k > 0) return {};
  const NodeId x = b.operand(node, 0);
  const Line line(b, x, b.attributes(node).axes);
  const NodeId row = line.of(b, x);
  const std::size_t rank = b.rank(row);
  Shape square = line.line;
  square.push_back(line.n);
  const NodeId i = b.indexed(b.iota(line.n), {whole, added}), j = b.iota(line.n);
  NodeId others = not_equal(b, i, j);
  if (const auto mask = mask_line(b, node, line)) others = b.call("and", {others, b.indexed(*mask, with_new(rank, 1))});
  const NodeId all = b.broadcast_to(b.indexed(row, with_new(rank, 1)), square);
  const NodeId product = line.back(b, b.reduced("prod", all, {static_cast<std::int64_t>(rank)}, false, others));
  return present(b, node, b.call("mul", {b.with_axes(up, node), product}));
}

/// Element i is in every product from i on: [.., i, k, j] holds x_j for j up to k, without i.
Flow cumprod(B& b, NodeId node, NodeId up, std::size_t k) {
  if (k > 0) return {};
  const NodeId x = b.operand(node, 0);
  const Line line(b, x, b.attributes(node).axes);
  const NodeId row = line.of(b, x);
  const std::size_t rank = b.rank(row);
  const NodeId i = b.indexed(b.iota(line.n), {whole, added, added}), step = b.indexed(b.iota(line.n), {whole, added}), j = b.iota(line.n);
  NodeId others = b.call("and", {b.call("le", {j, step}), not_equal(b, i, j)});
  const auto twice = [&](NodeId y) { return b.indexed(b.indexed(y, with_new(rank, 1)), with_new(rank + 1, 1)); };
  if (const auto mask = mask_line(b, node, line)) others = b.call("and", {others, twice(*mask)});
  Shape cube = line.line;
  cube.push_back(line.n);
  cube.push_back(line.n);
  const NodeId products = b.reduced("prod", b.broadcast_to(twice(row), cube), {static_cast<std::int64_t>(rank) + 1}, false, others);
  const NodeId flows = b.call("mul", {b.indexed(line.of(b, up), with_new(rank, 1)), products});  // [.., i, k]
  const NodeId later = b.call("ge", {b.iota(line.n), b.indexed(b.iota(line.n), {whole, added})});
  return present(b, node, line.back(b, b.reduced("sum", flows, {static_cast<std::int64_t>(rank)}, false, later)));
}

Flow matmul(B& b, NodeId node, NodeId up, std::size_t k) {
  NodeId x = b.operand(node, 0), y = b.operand(node, 1);
  const bool row = b.rank(x) == 1, column = b.rank(y) == 1;
  if (column) {
    y = b.indexed(y, {whole, added});
    up = b.indexed(up, with_new(b.rank(up), 0));
  }
  if (row) {
    x = b.indexed(x, {added, whole});
    up = b.indexed(up, with_new(b.rank(up), 1));
  }
  const auto swapped = [&](NodeId z) {
    std::vector<std::int64_t> axes(b.rank(z));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return b.transposed(z, axes);
  };
  const NodeId flow = k == 0 ? b.call("matmul", {up, swapped(y)}) : b.call("matmul", {swapped(x), up});
  return b.reshaped(b.fitted(flow, b.shape(k == 0 ? x : y)), b.shape(b.operand(node, k)));
}

Flow reshape(B& b, NodeId node, NodeId up, std::size_t) { return b.reshaped(up, b.shape(b.operand(node, 0))); }
Flow transpose(B& b, NodeId node, NodeId up, std::size_t) { return b.transposed(up, inverse(b.attributes(node).axes)); }
Flow broadcast(B& b, NodeId node, NodeId up, std::size_t) { return b.fitted(up, b.shape(b.operand(node, 0))); }

/// Zeros where nothing was taken: apart by the step, then before and behind.
Flow index(B& b, NodeId node, NodeId up, std::size_t) {
  const auto slices = b.attributes(node).slices;
  const Shape from = b.shape(b.operand(node, 0));
  // Axes taken by number come back, new ones go.
  std::vector<Slice> restored;
  for (const Slice& s : slices) {
    if (s.kind == Slice::Kind::index) restored.push_back(added);
    else if (s.kind == Slice::Kind::new_axis) restored.push_back({Slice::Kind::index, 0, 1, 0});
    else restored.push_back(whole);
  }
  up = b.indexed(up, std::move(restored));
  std::size_t axis = 0;
  for (const Slice& s : slices) {
    if (s.kind == Slice::Kind::new_axis) continue;
    const std::size_t here = axis++;
    const bool is_whole = s.kind == Slice::Kind::range && s.count == -1;
    if (s.kind == Slice::Kind::range && s.step < 0) up = flipped(b, up, here);
    if (is_whole) continue;
    const std::int64_t count = s.kind == Slice::Kind::index ? 1 : s.count, apart = s.kind == Slice::Kind::index ? 1 : std::abs(s.step);
    const std::int64_t first = s.step > 0 || s.kind == Slice::Kind::index ? s.start : s.start + (count - 1) * s.step;
    if (count == 0) {
      Shape empty = b.shape(up);
      empty[here] = from[here];
      up = b.zeros(empty);
      continue;
    }
    const auto joined = [&](std::vector<NodeId> parts, std::size_t at) {
      Attributes along;
      along.axes = {static_cast<std::int64_t>(at)};
      return b.call("concat", std::move(parts), along);
    };
    if (apart > 1 && count > 1) {
      const Shape now = b.shape(up);
      std::vector<Slice> split(now.size(), whole);
      split.insert(split.begin() + static_cast<std::ptrdiff_t>(here) + 1, added);
      Shape gap = now, merged = now;
      gap.insert(gap.begin() + static_cast<std::ptrdiff_t>(here) + 1, Dim(apart - 1));
      merged[here] = merged[here] * Dim(apart);
      up = b.reshaped(joined({b.indexed(up, std::move(split)), b.zeros(gap)}, here + 1), merged);
      std::vector<Slice> cut(now.size(), whole);
      cut[here] = {Slice::Kind::range, 0, 1, (count - 1) * apart + 1};
      up = b.indexed(up, std::move(cut));
    }
    const Dim behind = from[here] - Dim(first + (count - 1) * apart + 1);
    std::vector<NodeId> parts = {up};
    const auto gap = [&](const Dim& length) {
      Shape shape = b.shape(up);
      shape[here] = length;
      return b.zeros(shape);
    };
    if (first > 0) parts.insert(parts.begin(), gap(Dim(first)));
    if (!(behind == Dim(0))) parts.push_back(gap(behind));
    if (parts.size() > 1) up = joined(std::move(parts), here);
  }
  return up;
}

Flow diagonal(B& b, NodeId node, NodeId up, std::size_t) {
  const NodeId x = b.operand(node, 0);
  const auto axes = b.attributes(node).axes;
  const Dim m = b.shape(x)[static_cast<std::size_t>(axes[0])], n = b.shape(x)[static_cast<std::size_t>(axes[1])];
  const bool first_is_shorter = b.shape(up).back() == m;
  const NodeId spread = b.indexed(up, with_new(b.rank(up), first_is_shorter ? 0 : 1));
  const NodeId on_it = b.call("eq", {b.indexed(b.iota(m), {whole, added}), b.iota(n)});
  return b.transposed(b.kept_if(on_it, spread), inverse(last_order(b.rank(x), axes)));
}

Flow concat(B& b, NodeId node, NodeId up, std::size_t k) {
  const auto axis = static_cast<std::size_t>(b.attributes(node).axes[0]);
  Dim before(0);
  for (std::size_t i = 0; i < k; ++i) before = before + b.shape(b.operand(node, i))[axis];
  const Dim length = b.shape(b.operand(node, k))[axis];
  if (!before.is_number() || !length.is_number()) return b.zeros(b.shape(b.operand(node, k)));  // shapes only: known with the call
  std::vector<Slice> part(b.rank(up), whole);
  part[axis] = {Slice::Kind::range, before.value(), 1, length.value()};
  return b.indexed(up, std::move(part));
}

}  // namespace erx::gradients
