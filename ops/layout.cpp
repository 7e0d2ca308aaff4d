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
    bool started = false;  // a span of 0 is that of a broadcast axis
    for (std::size_t k = i2; k-- > i;) {
      if (v.extents[k] == 1) continue;
      if (!started)
        unit = v.strides[k], span = unit * v.extents[k], started = true;
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
    const bool moves = std::any_of(a.moving.begin(), a.moving.end(), [&](const Moving& m) { return m.slice == &s - a.slices.data(); });
    const bool reads = !moves && (s.kind == Slice::Kind::index || s.count > 0);  // where it moves to is known to the loop
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

/// Axes a and b walked together, as the last axis of the result.
Shape diagonal_shape(Shapes shapes, const Attributes& a) {
  const Shape& x = shapes[0];
  const auto rank = static_cast<std::int64_t>(x.size());
  const bool fits = a.axes.size() == 2 && a.axes[0] != a.axes[1] && std::min(a.axes[0], a.axes[1]) >= 0 && std::max(a.axes[0], a.axes[1]) < rank;
  if (!fits) throw RuleBroken{"diagonal needs two different axes of " + to_string(x), 0, to_string(x)};
  const Dim &m = x[static_cast<std::size_t>(a.axes[0])], &n = x[static_cast<std::size_t>(a.axes[1])];
  const bool shorter = m.is_number() && n.is_number();
  if (!shorter && !(m == n))
    throw RuleBroken{"the axes of a diagonal have the lengths " + m.to_string() + " and " + n.to_string(), 0, to_string(x)};
  Shape out;
  for (std::int64_t k = 0; k < rank; ++k)
    if (k != a.axes[0] && k != a.axes[1]) out.push_back(x[static_cast<std::size_t>(k)]);
  out.push_back(shorter ? Dim(std::min(m.value(), n.value())) : m);
  return out;
}

std::optional<View> diagonal_view(const View& v, const Node& node) {
  const auto& axes = node.attributes.axes;
  View out{{}, {}, v.offset};
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(v.extents.size()); ++k) {
    if (k == axes[0] || k == axes[1]) continue;
    out.extents.push_back(v.extents[k]);
    out.strides.push_back(v.strides[k]);
  }
  out.extents.push_back(std::min(v.extents[axes[0]], v.extents[axes[1]]));
  out.strides.push_back(v.strides[axes[0]] + v.strides[axes[1]]);
  return out;
}

Shape concat_shape(Shapes shapes, const Attributes& a) {
  Shape out = shapes[0];
  const auto axis = static_cast<std::size_t>(a.axes.at(0));
  if (axis >= out.size())
    throw RuleBroken{out.empty() ? "single numbers are put together with stack" : "axis " + std::to_string(axis) + " is out of range for shape " + to_string(out), 0,
                     to_string(out)};
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    const Shape& x = shapes[i];
    if (x.size() != out.size())
      throw RuleBroken{"concat needs as many dimensions in each: " + to_string(shapes[0]) + " and " + to_string(x), static_cast<int>(i), to_string(x)};
    for (std::size_t k = 0; k < x.size(); ++k)
      if (k != axis && !(x[k] == out[k]))
        throw RuleBroken{"shapes " + to_string(shapes[0]) + " and " + to_string(x) + " do not join along axis " + std::to_string(axis) + ": " +
                             out[k].to_string() + " and " + x[k].to_string() + " differ",
                         static_cast<int>(i), to_string(x)};
    out[axis] = out[axis] + x[axis];
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
  static const Op diagonal = make_row({.name = "diagonal",
                                       .doc = "diagonal(x, a=0, b=1): x[.., i, .., i, ..] of the axes a and b, as the last axis",
                                       .source = "NumPy diagonal",
                                       .type = rules::same_type,
                                       .shape = diagonal_shape,
                                       .view = diagonal_view},
                                      Gather::view);
  static const Op concat = make_row({.name = "concat",
                                     .doc = "concat(x, y, .., axis=0): one after the other along the axis",
                                     .source = "NumPy concatenate",
                                     .operands = 1,
                                     .operands_max = -1,
                                     .type = rules::join_type,
                                     .shape = concat_shape},
                                    Gather::join);
  static const Op* const rows[] = {&reshape, &transpose, &broadcast, &index, &diagonal, &concat};
  return rows;
}

}  // namespace erx::families
