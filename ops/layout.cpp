// Ops that only say where elements lie.
#include <algorithm>

#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

namespace {

using Shapes = std::span<const Shape>;

Dim size_of_shape(const Shape& shape) {
  Dim product(1);
  for (const Dim& d : shape) product = product * d;
  return product;
}

Shape reshape_shape(Shapes shapes, const Attributes& a) {
  if (!(size_of_shape(shapes[0]) == size_of_shape(a.shape)))
    throw RuleBroken{"reshape changes the number of elements: " + to_string(shapes[0]) + " and " + to_string(a.shape), 0,
                     to_string(shapes[0])};
  return a.shape;
}

/// Splits and merges runs of axes that lie evenly in memory; where a merged run does not, the operand has to be copied.
std::optional<View> reshape_view(const View& v, const Node& node) {
  const Extents to = extents_of(node.shape);
  View out{to, Extents(to.size(), 0), v.offset};
  if (size_of(to) == 0) return out;
  std::size_t i = 0, j = 0;
  while (i < v.extents.size() || j < to.size()) {
    // the shortest runs [i, i2) and [j, j2) with the same number of elements
    std::size_t i2 = i, j2 = j;
    std::int64_t from_count = 1, to_count = 1;
    do {
      if (from_count <= to_count && i2 < v.extents.size())
        from_count *= v.extents[i2++];
      else if (j2 < to.size())
        to_count *= to[j2++];
      else
        from_count *= v.extents[i2++];
    } while (from_count != to_count);
    // strides of the run [i, i2): even if each axis steps over the next
    std::int64_t unit = 0, span = 0;
    for (std::size_t k = i2; k-- > i;) {
      if (v.extents[k] == 1) continue;
      if (span == 0)
        unit = v.strides[k], span = unit * v.extents[k];
      else if (v.strides[k] != span)
        return {};
      else
        span *= v.extents[k];
    }
    for (std::size_t k = j2; k-- > j;) {
      out.strides[k] = unit;
      unit *= to[k];
    }
    i = i2;
    j = j2;
  }
  return out;
}

Shape transpose_shape(Shapes shapes, const Attributes& a) {
  const Shape& x = shapes[0];
  std::vector<std::int64_t> sorted = a.axes;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < std::max(sorted.size(), x.size()); ++i)
    if (sorted.size() != x.size() || sorted[i] != static_cast<std::int64_t>(i))
      throw RuleBroken{"transpose needs every axis of " + to_string(x) + " once", 0, to_string(x)};
  Shape out;
  for (std::int64_t axis : a.axes) out.push_back(x[axis]);
  return out;
}

std::optional<View> transpose_view(const View& v, const Node& node) {
  View out{{}, {}, v.offset};
  for (std::int64_t axis : node.attributes.axes) {
    out.extents.push_back(v.extents[axis]);
    out.strides.push_back(v.strides[axis]);
  }
  return out;
}

Shape broadcast_to(Shapes shapes, const Attributes& a) {
  const auto both = broadcast(shapes[0], a.shape);
  if (!both || !(*both == a.shape))
    throw RuleBroken{"shape " + to_string(shapes[0]) + " does not broadcast to " + to_string(a.shape), 0, to_string(shapes[0])};
  return a.shape;
}

std::optional<View> broadcast_view(const View& v, const Node& node) {
  View out{extents_of(node.shape), {}, v.offset};
  const std::size_t extra = out.extents.size() - v.extents.size();
  out.strides.assign(extra, 0);
  for (std::size_t k = 0; k < v.extents.size(); ++k) out.strides.push_back(v.extents[k] == out.extents[extra + k] ? v.strides[k] : 0);
  return out;
}

/// A whole axis, which may have a name for a length: count -1, step 1 or -1.
bool is_whole_axis(const Slice& s) { return s.kind == Slice::Kind::range && s.count == -1; }

Shape index_shape(Shapes shapes, const Attributes& a) {
  const Shape& x = shapes[0];
  Shape out;
  std::size_t axis = 0;
  for (const Slice& s : a.slices) {
    if (s.kind == Slice::Kind::new_axis) {
      out.push_back(Dim(1));
      continue;
    }
    if (axis == x.size()) throw RuleBroken{"too many indices for shape " + to_string(x), 0, to_string(x)};
    const Dim& d = x[axis++];
    if (is_whole_axis(s)) {
      out.push_back(d);
      continue;
    }
    const std::int64_t last = s.kind == Slice::Kind::index ? s.start : s.start + (s.count - 1) * s.step;
    const bool reads = s.kind == Slice::Kind::index || s.count > 0;
    if (reads && d.is_number() && (s.start < 0 || last < 0 || s.start >= d.value() || last >= d.value()))
      throw RuleBroken{"index " + std::to_string(s.start < 0 || s.start >= d.value() ? s.start : last) + " is out of range for axis " +
                           std::to_string(axis - 1) + " of shape " + to_string(x),
                       0, to_string(x)};
    if (s.kind == Slice::Kind::range) out.push_back(Dim(s.count));
  }
  out.insert(out.end(), x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
  return out;
}

std::optional<View> index_view(const View& v, const Node& node) {
  View out{{}, {}, v.offset};
  std::size_t axis = 0;
  for (const Slice& s : node.attributes.slices) {
    if (s.kind == Slice::Kind::new_axis) {
      out.extents.push_back(1);
      out.strides.push_back(0);
      continue;
    }
    const std::int64_t extent = v.extents[axis], stride = v.strides[axis];
    ++axis;
    if (is_whole_axis(s)) {
      if (s.step < 0 && extent > 0) out.offset += (extent - 1) * stride;
      out.extents.push_back(extent);
      out.strides.push_back(s.step * stride);
      continue;
    }
    const bool range = s.kind == Slice::Kind::range;
    if (!range || s.count > 0) out.offset += s.start * stride;
    if (range) {
      out.extents.push_back(s.count);
      out.strides.push_back(s.step * stride);
    }
  }
  for (; axis < v.extents.size(); ++axis) {
    out.extents.push_back(v.extents[axis]);
    out.strides.push_back(v.strides[axis]);
  }
  return out;
}

}  // namespace

std::span<const Op* const> layout() {
  static const Op reshape = make_row({.name = "reshape",
                                      .doc = "reshape(x, shape): the same elements in C order",
                                      .source = "NumPy reshape",
                                      .type = rules::same_type,
                                      .shape = reshape_shape,
                                      .view = reshape_view,
                                      .complex = on_complex::parts},
                                     Gather::view);
  static const Op transpose = make_row({.name = "transpose",
                                        .doc = "transpose(x, axes): axis k of the result is axis axes[k] of x",
                                        .source = "NumPy transpose",
                                        .type = rules::same_type,
                                        .shape = transpose_shape,
                                        .view = transpose_view,
                                      .complex = on_complex::parts},
                                       Gather::view);
  static const Op broadcast = make_row({.name = "broadcast",
                                        .doc = "broadcast(x, shape): repeats along axes of length 1",
                                        .source = "NumPy broadcast_to",
                                        .type = rules::same_type,
                                        .shape = broadcast_to,
                                        .view = broadcast_view,
                                      .complex = on_complex::parts},
                                       Gather::view);
  static const Op index = make_row({.name = "index",
                                    .doc = "x[i, j:k, ::2, None]: slices as numbers (count -1: the whole axis, step 1 or -1)",
                                    .source = "NumPy basic indexing",
                                    .type = rules::same_type,
                                    .shape = index_shape,
                                    .view = index_view,
                                    .complex = on_complex::parts},
                                   Gather::view);
  static const Op* const rows[] = {&reshape, &transpose, &broadcast, &index};
  return rows;
}

}  // namespace erx::families
