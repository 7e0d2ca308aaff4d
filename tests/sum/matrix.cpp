// The float64 fast path of matrix products against the same sums leaf by leaf in exact arithmetic, and against float32 executions.
#include <algorithm>
#include <cstring>
#include <random>

#include "eval/evaluate.hpp"
#include "ops/op.hpp"
#include "ops/planted.hpp"
#include "tests/stored_tensor.hpp"
#include "tests/sum/cases.hpp"
#include "tests/sum/checks.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;
using Tier = EvaluateOptions::Tier;
enum class Data { gaussian, cancelling, wide, integer, small_integer, sparse, subnormal, specials, huge, constructed, tiny, tiny_integer, one_signed, absorbed, deep, middles, below_power, at_largest, tied };

std::vector<double> make(std::mt19937_64& random, const Format& f, Data data, std::int64_t n, std::int64_t row) {
  std::normal_distribution<double> normal;
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) {
    double x = normal(random);
    switch (data) {
      case Data::cancelling: x = i % 2 && row % 2 == 0 ? -v[i - 1] : x; break;
      case Data::wide: x = std::copysign(std::exp(10 * normal(random)), x); break;
      case Data::integer: x = static_cast<double>(static_cast<std::int64_t>(random() % 33) - 16); break;
      case Data::small_integer: x = random() % 2 ? 1 : -1; break;
      case Data::one_signed:
      case Data::sparse: x = random() % 64 ? (random() % 2 ? 0.0 : -0.0) : x; break;
      case Data::subnormal: x *= f.min_normal() * std::ldexp(1.0, static_cast<int>(random() % 4) - 2); break;
      case Data::specials: {
        const double edge[] = {INFINITY, -INFINITY, NAN, f.max_finite(), -f.max_finite()};
        if (random() % 2000 == 0) x = edge[random() % 5];
        break;
      }
      case Data::huge: x = std::ldexp(x, static_cast<int>(random() % 2000) - 1000); break;
      case Data::tiny: x = 1e-170 * x; break;
      case Data::tiny_integer: x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000), -540); break;
      case Data::deep: x = i % 2 ? -v[i - 1] * (1 + std::ldexp(normal(random), -46)) : std::ldexp(x, static_cast<int>(random() % 8)); break;
      case Data::constructed:
      case Data::middles:
      case Data::below_power:
      case Data::at_largest:
      case Data::tied:
      case Data::absorbed: x = 0; break;
      default: break;
    }
    v[i] = std::isfinite(x) ? round_to(x, f, {}) : f.has_infinity() ? x : 0;
  }
  return v;
}

struct Product {
  std::string name;
  Format a, b, sum;
  Data data;
  std::int64_t batch = 1, m = 0, k = 0, n = 0;
  bool one_row = false, one_column = false;  // of C, which is added to all rows or columns
  bool transposed = false, with_c = false, minus = false, rounds = true, within = false;
  Flush flush = Flush::no;
  Contraction contraction = Contraction::free;
  double beta = 1;
  bool scaled = false;
  std::optional<Format> stored = {};  // the sum is rounded into it
  bool halves = false;  // A1 @ B1 - A2 @ B2, the parts of A and B along the sum
  Overflow overflow = Overflow::by_format;  // of that rounding
  bool both_batched = false;  // else B is that of every batch
  bool left_transposed = false;
};

struct Evaluated {
  SetTensor set;
  Counters counters;
};

std::shared_ptr<const Graph> graph_of(const Product& p) {
  auto g = std::make_shared<Graph>();
  const auto dims = [&](std::int64_t r, std::int64_t c) { return p.batch > 1 ? erx::Shape{Dim(p.batch), Dim(r), Dim(c)} : erx::Shape{Dim(r), Dim(c)}; };
  NodeId a = build_input(*g, "A", Type::of(p.a), p.left_transposed ? dims(p.k, p.m) : dims(p.m, p.k));
  const erx::Shape one = p.transposed ? erx::Shape{Dim(p.n), Dim(p.k)} : erx::Shape{Dim(p.k), Dim(p.n)};
  NodeId b = build_input(*g, "B", Type::of(p.b), p.both_batched ? (p.transposed ? dims(p.n, p.k) : dims(p.k, p.n)) : one);
  NodeId c = 0, beta = 0;
  if (p.with_c) c = build_input(*g, "C", Type::of(p.sum), {Dim(p.one_row ? 1 : p.m), Dim(p.one_column ? 1 : p.n)});
  if (p.scaled) beta = build_input(*g, "beta", Type::real(), {}, true);
  const auto transposed = [&](NodeId x) {
    Attributes t;
    t.axes = (*g)[x].shape.size() == 3 ? std::vector<std::int64_t>{0, 2, 1} : std::vector<std::int64_t>{1, 0};
    return build(*g, op("transpose"), {x}, t);
  };
  if (p.left_transposed) a = transposed(a);
  if (p.transposed) b = transposed(b);
  const auto part = [&](NodeId x, std::size_t axis, std::int64_t start, std::int64_t count) {
    Attributes t;
    for (std::size_t k = 0; k < (*g)[x].shape.size(); ++k) {
      const bool here = k == axis;
      t.slices.push_back({Slice::Kind::range, here ? start : 0, 1, here ? count : -1});
    }
    return build(*g, op("index"), {x}, t);
  };
  const auto half = [&](std::int64_t start, std::int64_t count) {
    const NodeId left = part(a, (*g)[a].shape.size() - 1, start, count), right = part(b, 0, start, count);
    return build(*g, op("matmul"), {left, right});
  };
  NodeId s = 0;
  if (p.halves) {
    const NodeId first = half(0, p.k / 2), second = half(p.k / 2, p.k - p.k / 2);
    s = build(*g, op("sub"), {first, second});
  } else {
    s = build(*g, op("matmul"), {a, b});
  }
  if (p.with_c) {
    if (p.scaled) c = build(*g, op("mul"), {beta, c});
    s = p.minus ? build(*g, op("sub"), {c, s}) : build(*g, op("add"), {s, c});
  }
  if (p.rounds) {
    Attributes t;
    t.format = p.sum;
    t.rounding.flush = p.flush;
    t.contraction = p.contraction;
    s = build(*g, op(p.within ? "within_sum" : "acc"), {s}, t);
  }
  if (p.stored) {
    Attributes t;
    t.format = p.stored;
    t.rounding.overflow = p.overflow;
    s = build(*g, op("round"), {s}, t);
  }
  g->results.push_back({"", s, {}});
  return g;
}

struct Operands {
  std::vector<double> a, b, c;
  std::vector<Tensor> tensors;
};

Operands operands_of(const Product& p, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Operands o;
  const std::int64_t lead = p.batch > 1 ? p.batch : 1;
  for (std::int64_t i = 0; i < lead * p.m; ++i) {
    const std::vector<double> row = make(random, p.a, p.data, p.k, i);
    o.a.insert(o.a.end(), row.begin(), row.end());
  }
  if (p.data == Data::cancelling || p.data == Data::deep) {
    // Columns that are equal in pairs of rows: products cancel in even rows of A.
    std::vector<double> line = make(random, p.b, Data::gaussian, p.k * p.n, 1);
    const auto at = [&](std::int64_t k, std::int64_t j) -> double& { return line[static_cast<std::size_t>(p.transposed ? j * p.k + k : k * p.n + j)]; };
    for (std::int64_t k = 1; k < p.k; k += 2)
      for (std::int64_t j = 0; j < p.n; ++j) at(k, j) = at(k - 1, j);
    o.b = line;
  } else {
    // A row of tiny values has a norm that underflows where it is not scaled.
    o.b = make(random, p.b, p.data == Data::tiny ? Data::gaussian : p.data, (p.both_batched ? p.batch : 1) * p.k * p.n, 1);
  }
  if (p.data == Data::one_signed) {
    // Products that are 0 are all -0.
    for (double& x : o.a) x = std::fabs(x);
    for (double& x : o.b) x = -std::fabs(x);
  }
  if (p.data == Data::constructed) {
    // Rows b = 3a of integers with the sum 2^53 + 1: norms that are not rounded up call the product exact.
    for (std::int64_t i = 0; i < p.m; ++i) {
      std::int64_t rest = ((std::int64_t{1} << 53) + 1) / 3;
      for (std::int64_t k = 0; k < p.k; ++k) {
        std::int64_t x = 1400000 + static_cast<std::int64_t>(random() % 150000);
        if (k + 12 > p.k || x * x > rest) x = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rest)));
        rest -= x * x;
        o.a[static_cast<std::size_t>(i * p.k + k)] = static_cast<double>(x);
      }
    }
    for (std::int64_t k = 0; k < p.k; ++k)
      for (std::int64_t j = 0; j < p.n; ++j)
        o.b[static_cast<std::size_t>(p.transposed ? j * p.k + k : k * p.n + j)] = 3 * o.a[static_cast<std::size_t>(j % p.m * p.k + k)];
  }
  if (p.data == Data::middles) {
    // Pairs that cancel exactly, of 80 bits each, beside a power of two and half a spacing (or a little less) of the result's format.
    const Format& f = p.stored ? *p.stored : p.sum;
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t k = 0; k < p.k; ++k) {
        double& x = o.a[static_cast<std::size_t>(i * p.k + k)];
        if (k < 3) x = k == 0 ? std::ldexp(1.0, static_cast<int>(i % 7)) : k == 1 ? (i % 2 ? -1 : 1) * std::ldexp(1.0, static_cast<int>(i % 7)) : i % 3 == 0 ? 0x1p-70 : 0;
        else x = k % 2 ? 1 + static_cast<double>(random() >> 12) * 0x1p-52 : -o.a[static_cast<std::size_t>(i * p.k + k - 1)];
      }
    for (std::int64_t k = 0; k < p.k; ++k)
      for (std::int64_t j = 0; j < p.n; ++j) {
        const auto at = [&](std::int64_t term) { return static_cast<std::size_t>(p.transposed ? j * p.k + term : term * p.n + j); };
        if (k < 3) o.b[at(k)] = k == 0 ? 1 + static_cast<double>(j % 2) * std::ldexp(1.0, 1 - f.precision()) : k == 1 ? std::ldexp(1.0, -f.precision() - static_cast<int>(j % 3)) : 1;
        else o.b[at(k)] = k % 2 ? 1 + static_cast<double>(random() >> 12) * 0x1p-52 : o.b[at(k - 1)];
      }
    if (p.k % 2 == 0) throw std::logic_error("a term without its partner");
  }
  if (p.data == Data::below_power) {
    // 1 + 2^-51 and small terms that a float64 sum loses one by one: it stays at a power of two, the exact sum is below the middle under that.
    // Rows that are asked whether pairs pay are 0.
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t k = 0; k < p.k; ++k) o.a[static_cast<std::size_t>(i * p.k + k)] = i % 4 == 0 ? 0 : k == 0 ? 1 : 0x1p-26;
    for (std::int64_t k = 0; k < p.k; ++k)
      for (std::int64_t j = 0; j < p.n; ++j) o.b[static_cast<std::size_t>(k * p.n + j)] = k == 0 ? 1 + 0x1p-51 : -0x1p-27;
  }
  if (p.data == Data::at_largest) {
    // The largest value and half a spacing, or a little more or less.
    const Format& f = *p.stored;
    const double largest = f.max_finite(), half = std::ldexp(1.0, std::ilogb(largest) - f.precision());
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t k = 0; k < p.k; ++k) o.a[static_cast<std::size_t>(i * p.k + k)] = k < 3 ? (i % 2 ? -1 : 1) : 0;
    for (std::int64_t k = 0; k < 3; ++k)
      for (std::int64_t j = 0; j < p.n; ++j) o.b[static_cast<std::size_t>(k * p.n + j)] = k == 0 ? largest : k == 1 ? half : std::ldexp(static_cast<double>(j % 3 - 1), -63);
  }
  if (p.data == Data::tied) {  // 1 and half a spacing of float32: what is added decides, though no double holds the sum
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t k = 0; k < 2; ++k) o.a[static_cast<std::size_t>(i * p.k + k)] = k == 0 ? 1 : 0x1p-12;
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t k = 0; k < 2; ++k) o.b[static_cast<std::size_t>(k * p.n + j)] = k == 0 ? 1 : 0x1p-12;
  }
  if (p.data == Data::absorbed) {
    // Two large terms that cancel, and small ones that float32 loses one by one beside them: magnitudes come out too small.
    const auto significand = [&] { return 1 + static_cast<double>(random() % 128) / 128; };
    for (std::int64_t i = 0; i < p.m; ++i) {
      const double x = significand();
      for (std::int64_t k = 0; k < p.k; ++k) o.a[static_cast<std::size_t>(i * p.k + k)] = k == 0 ? 64 * x : k == 1 ? -64 * x : x;
    }
    for (std::int64_t j = 0; j < p.n; ++j) {
      const double y = significand(), small = round_to(y * 127 * 0x1p-20, p.b, {.mode = Mode::rtz});
      for (std::int64_t k = 0; k < p.k; ++k) o.b[static_cast<std::size_t>(k * p.n + j)] = k < 2 ? 64 * y : small;
    }
  }
  Extents shape_a = p.left_transposed ? Extents{p.k, p.m} : Extents{p.m, p.k}, shape_b = p.transposed ? Extents{p.n, p.k} : Extents{p.k, p.n};
  if (p.batch > 1) shape_a.insert(shape_a.begin(), p.batch);
  if (p.both_batched) shape_b.insert(shape_b.begin(), p.batch);
  o.tensors.push_back(stored_tensor(p.a, shape_a, o.a));
  o.tensors.push_back(stored_tensor(p.b, shape_b, o.b));
  if (p.with_c) {
    const std::int64_t rows = p.one_row ? 1 : p.m, columns = p.one_column ? 1 : p.n;
    o.c = make(random, p.sum, p.data, rows * columns, 1);
    for (std::size_t i = 0; p.data == Data::tied && i < o.c.size(); ++i) o.c[i] = static_cast<double>(static_cast<int>(i % 3) - 1) * 0x1p-80;
    o.tensors.push_back(Tensor::of(Type::of(p.sum), {rows, columns}, o.c));
  }
  if (p.scaled) o.tensors.push_back(Tensor::scalar(p.beta));
  return o;
}

Evaluated evaluate(const Product& p, const Operands& o, int threads, Tier lowest) {
  EvaluateOptions options;
  options.threads = threads;
  options.lowest = lowest;
  Evaluation e(graph_of(p), o.tensors, options);
  SetTensor set = e.result(0);
  return {set, e.counters()};
}

bool same(const Plane::Array& a, const Plane::Array& b) { return std::memcmp(a->data(), b->data(), a->size() * sizeof(double)) == 0; }

std::string at(const Product& p, std::size_t i, const Plane& x, const Plane& y) {
  std::ostringstream out;
  out << p.name << ", element " << i << ": [" << (*x.lo_d)[i] << ".." << (*x.lo_u)[i] << ", " << (*x.hi_d)[i] << ".." << (*x.hi_u)[i] << "] flags " << (x.flags ? (*x.flags)[i] : 0)
      << ", exactly [" << (*y.lo_d)[i] << ".." << (*y.lo_u)[i] << ", " << (*y.hi_d)[i] << ".." << (*y.hi_u)[i] << "] flags " << (y.flags ? (*y.flags)[i] : 0);
  return out.str();
}

/// Bulk against exact: settled nodes are equal; exact sums hold the two doubles around them; a `within` has ends of its own.
Found against_exact(const Product& p, const Plane& fast, const Plane& exact) {
  for (std::size_t i = 0; i < fast.lo_d->size(); ++i) {
    const std::uint8_t f = fast.flags ? (*fast.flags)[i] : 0, e = exact.flags ? (*exact.flags)[i] : 0;
    const bool flags = (f & ~any_zero) == (e & ~any_zero) || (p.within && (e & ~any_zero & ~f) == 0) || (!p.rounds && !p.stored);
    const bool zero = !(((*exact.lo_d)[i] <= 0 && (*exact.hi_u)[i] >= 0) && !(e & no_reals)) || (e & any_zero & ~f) == 0;
    if (!flags || !zero) return at(p, i, fast, exact);
    if (e & no_reals) continue;
    const bool settled = p.stored || (p.rounds && !p.within);
    const bool held = !p.rounds && !p.stored ? (*fast.lo_d)[i] <= (*exact.lo_d)[i] && (*fast.lo_u)[i] >= (*exact.lo_u)[i] : settled ? (*fast.lo_d)[i] == (*exact.lo_d)[i] && (*fast.hi_u)[i] == (*exact.hi_u)[i]
                              : (*fast.lo_d)[i] <= (*exact.lo_u)[i] && (*fast.lo_u)[i] >= (*exact.lo_d)[i] && (*fast.hi_d)[i] <= (*exact.hi_u)[i] && (*fast.hi_u)[i] >= (*exact.hi_d)[i];
    if (!held) return at(p, i, fast, exact);
  }
  return {};
}

/// float32 as a program adds it: in order, fused, backwards, in eight parts, by halves.
float pairs(const float* x, std::size_t n) { return n == 1 ? x[0] : pairs(x, n / 2) + pairs(x + n / 2, n - n / 2); }
std::vector<float> float_sums(const std::vector<float>& a, const std::vector<float>& b, float c) {
  const std::size_t n = a.size();
  std::vector<float> results, products(n);
  for (std::size_t k = 0; k < n; ++k) products[k] = a[k] * b[k];
  float s = c, fused = c, back = 0, parts[8] = {};
  for (std::size_t k = 0; k < n; ++k) {
    s += products[k];
    fused = std::fma(a[k], b[k], fused);
    back = std::fma(a[n - 1 - k], b[n - 1 - k], back);
    parts[k % 8] += products[k];
  }
  results = {s, fused, back + c, pairs(products.data(), n) + c, pairs(parts, 8) + c};
  return results;
}

Found against_floats(const Product& p, const Operands& o, const Plane& fast, Figures& figures) {
  std::vector<float> a(static_cast<std::size_t>(p.k)), b(a.size());
  for (std::int64_t i = 0; i < p.batch * p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t k = 0; k < p.k; ++k) {
        a[static_cast<std::size_t>(k)] = static_cast<float>(o.a[static_cast<std::size_t>(i * p.k + k)]) * (p.minus != (p.halves && k >= p.k / 2) ? -1.0f : 1.0f);
        b[static_cast<std::size_t>(k)] = static_cast<float>(o.b[static_cast<std::size_t>(p.transposed ? j * p.k + k : k * p.n + j)]);
      }
      // beta * C rounded once; a beta of 0 reads no C.
      const double scaled = !p.with_c || (p.scaled && p.beta == 0) ? 0 : (p.scaled ? p.beta : 1) * o.c[static_cast<std::size_t>(i % p.m * p.n + j)];
      for (float r : float_sums(a, b, static_cast<float>(scaled))) {
        const std::size_t flat = static_cast<std::size_t>(i * p.n + j);
        const std::uint8_t flags = fast.flags ? (*fast.flags)[flat] : 0, flag = flags_of(r);
        ++figures.values;
        const bool held = (flag & (has_nan | any_infinity)) ? (flags & flag) != 0 : !(flags & no_reals) && (*fast.lo_d)[flat] <= r && r <= (*fast.hi_u)[flat];
        if (!held) return at(p, flat, fast, fast) + ": float32 gives " + std::to_string(r);
      }
    }
  return {};
}

std::vector<Product> products() {
  const Format f32 = *find_format("f32"), f64 = *find_format("f64"), bf16 = *find_format("bf16"), f16 = *find_format("f16"), e4m3 = *find_format("f8e4m3fn");
  std::vector<Product> all;
  const auto put = [&](std::string name, Format a, Format b, Format sum, Data data, auto change) {
    Product p{std::move(name), a, b, sum, data};
    p.m = 57, p.n = 61, p.k = 1223;  // more leaves in all than are read one by one
    change(p);
    all.push_back(p);
  };
  const auto plain = [](Product&) {};
  put("f64 gaussian", f64, f64, f64, Data::gaussian, plain);
  put("f64 of every size", f64, f64, f64, Data::huge, plain);
  put("f64 tiny", f64, f64, f64, Data::tiny, plain);
  put("f64 integers times 2^-540", f64, f64, f64, Data::tiny_integer, plain);
  put("f64 integers, b = 3a", f64, f64, f64, Data::constructed, [](Product& p) { p.transposed = true; });
  put("exact f64 b = 3a", f64, f64, f64, Data::constructed, [](Product& p) { p.rounds = false; p.transposed = true; });
  put("bf16 gaussian", bf16, bf16, f32, Data::gaussian, plain);
  put("f16 gaussian, transposed", f16, f16, f32, Data::gaussian, [](Product& p) { p.transposed = true; });
  put("f32 gaussian + C", f32, f32, f32, Data::gaussian, [](Product& p) { p.with_c = true; });
  put("C - f32 gaussian", f32, f32, f32, Data::gaussian, [](Product& p) { p.with_c = p.minus = true; });
  put("bf16 gaussian + beta C", bf16, bf16, f32, Data::gaussian, [](Product& p) { p.with_c = p.scaled = true; p.beta = 0.3; });
  put("bf16 specials + 0 C", bf16, bf16, f32, Data::specials, [](Product& p) { p.with_c = p.scaled = true; p.beta = 0; });
  put("bf16 batched", bf16, bf16, f32, Data::gaussian, [](Product& p) { p.batch = 3, p.m = 19; });
  put("f32 batched, transposed", f32, f32, f32, Data::gaussian, [](Product& p) { p.batch = 2, p.m = 29, p.transposed = true; });
  put("two f32 products", f32, f32, f32, Data::gaussian, [](Product& p) { p.halves = true; });
  put("C - two bf16 products, batched, transposed", bf16, bf16, f32, Data::gaussian,
      [](Product& p) { p.halves = p.with_c = p.minus = p.transposed = true, p.batch = 3, p.m = 19; });
  put("two f16 products of integers", f16, f16, f32, Data::integer, [](Product& p) { p.halves = true; });
  put("two f32 products, specials", f32, f32, f32, Data::specials, [](Product& p) { p.halves = true; });
  put("two f64 products, exactly", f64, f64, f64, Data::wide, [](Product& p) { p.halves = true; p.rounds = false; });
  put("f32 cancelling", f32, f32, f32, Data::cancelling, plain);
  put("bf16 cancelling + C", bf16, bf16, f32, Data::cancelling, [](Product& p) { p.with_c = true; });
  put("f32 lognormal", f32, f32, f32, Data::wide, plain);
  put("bf16 lognormal + C", bf16, bf16, f32, Data::wide, [](Product& p) { p.with_c = true; });
  put("f16 integers", f16, f16, f32, Data::integer, plain);
  put("f8 signs in f16", e4m3, e4m3, f16, Data::small_integer, plain);
  put("bf16 sparse, signs of zero", bf16, bf16, f32, Data::sparse, plain);
  put("bf16 sums of -0", bf16, bf16, f32, Data::one_signed, plain);
  put("exact sums of -0", f32, f32, f32, Data::one_signed, [](Product& p) { p.rounds = false; });
  put("f32 sparse + C", f32, f32, f32, Data::sparse, [](Product& p) { p.with_c = true; });
  put("f32 subnormal", f32, f32, f32, Data::subnormal, plain);
  put("f16 subnormal in f16", f16, f16, f16, Data::subnormal, plain);
  put("f16 subnormal, ftz", f16, f16, f16, Data::subnormal, [](Product& p) { p.flush = Flush::yes; });
  put("f32 gaussian, ftz free", f32, f32, f32, Data::gaussian, [](Product& p) { p.flush = Flush::free; });
  put("f32 specials + C", f32, f32, f32, Data::specials, [](Product& p) { p.with_c = true; });
  put("bf16 specials, never fused", bf16, bf16, f32, Data::specials, [](Product& p) { p.contraction = Contraction::never; });
  put("exact f32", f32, f32, f32, Data::wide, [](Product& p) { p.rounds = false; });
  put("exact f64 tiny", f64, f64, f64, Data::tiny, [](Product& p) { p.rounds = false; });
  put("exact sparse", f32, f32, f32, Data::sparse, [](Product& p) { p.rounds = false; });
  put("within f32 + C", f32, f32, f32, Data::gaussian, [](Product& p) { p.within = p.with_c = true; });
  put("within bf16", bf16, bf16, bf16, Data::cancelling, [](Product& p) { p.within = true; });
  for (const Data data : {Data::gaussian, Data::cancelling, Data::wide, Data::tiny_integer, Data::huge, Data::sparse, Data::specials, Data::deep})
    put("f64 data " + std::to_string(static_cast<int>(data)) + " stored in f64", f64, f64, f64, data, [&](Product& p) {
      p.rounds = false;
      p.stored = f64;
      p.transposed = data == Data::wide;
      if (data == Data::deep) p.k = 1224;  // nothing is left beside the pairs
    });
  // More open than a float64 product decides: in pairs.
  for (const Data data : {Data::cancelling, Data::wide, Data::deep, Data::specials, Data::integer, Data::tiny_integer, Data::huge})
    put("f64 data " + std::to_string(static_cast<int>(data)) + ", acc", f64, f64, f64, data, [&](Product& p) {
      p.transposed = data == Data::cancelling;
      p.minus = p.halves = data == Data::wide;
    });
  put("f32 products added in f64", f32, f32, f64, Data::gaussian, plain);
  put("f64 gaussian, batched, stored in f64", f64, f64, f64, Data::gaussian, [&](Product& p) { p.rounds = false, p.stored = f64, p.batch = 3, p.m = 23; });
  put("f64, one column, stored in f64", f64, f64, f64, Data::gaussian, [&](Product& p) { p.rounds = false, p.stored = f64, p.n = 1; });
  put("two f64 products, stored in f64", f64, f64, f64, Data::gaussian, [&](Product& p) { p.rounds = false, p.stored = f64, p.halves = p.transposed = true; });
  put("f64, middles of f64", f64, f64, f64, Data::middles, [&](Product& p) { p.rounds = false, p.stored = f64; });
  for (const Data data : {Data::deep, Data::wide, Data::middles})
    for (const Format& stored : {f32, bf16})
      put("f64 data " + std::to_string(static_cast<int>(data)) + " stored in " + stored.name, f64, f64, f64, data, [&](Product& p) {
        p.rounds = false;
        p.stored = stored;
        if (data == Data::deep) p.k = 1224;
      });
  put("f64, just below a power of two of a format of 46 bits", f64, f64, f64, Data::below_power, [&](Product& p) {
    p.m = 64, p.k = 100;
    p.rounds = false;
    p.stored = make_format({.e = 8, .m = 45});
  });
  // The same terms, more of them than a bound for short chains of additions allows to be lost.
  put("f64, a long chain below a power of two of a format of 43 bits", f64, f64, f64, Data::below_power, [&](Product& p) {
    p.m = 64, p.k = 3000, p.n = 24;
    p.rounds = false;
    p.stored = make_format({.e = 8, .m = 42});
  });
  // Sums at which formats overflow, and just beside them, under every policy; in one format pairs decide first.
  const Format finite = make_format({.e = 6, .m = 20, .inf = Infinities::none, .nan = Nans::none});
  for (const Format& stored : {*find_format("f6e2m3fn"), *find_format("f4e2m1fn"), e4m3, *find_format("f8e5m2fnuz"), bf16, f16, f32, finite})
    for (const Overflow overflow : {Overflow::by_format, Overflow::sat, Overflow::nosat})
      for (const std::int64_t columns : {24, 7})  // in tiles, and by BLAS
        put("f64 at the largest value of " + stored.name + ", overflow " + std::to_string(static_cast<int>(overflow)) + ", " + std::to_string(columns) + " columns", f64, f64, f64, Data::at_largest,
            [&](Product& p) {
              p.m = 40, p.k = 100, p.n = columns;
              p.rounds = false;
              p.stored = stored;
              p.overflow = overflow;
            });
  // A rounding after the sum is evaluated with it; below 8 bits magnitudes come from float32.
  const std::size_t sums = all.size();
  for (std::size_t k = 0; k < sums; ++k) {
    if (all[k].stored || all[k].sum == f16 || (all[k].sum == f64 && all[k].rounds)) continue;
    for (const Format& stored : {bf16, f16, e4m3}) {
      if (!(stored == bf16) && all[k].with_c) continue;
      Product p = all[k];
      p.name += " stored in " + stored.name;
      p.stored = stored;
      all.push_back(p);
    }
  }
  // Ends on both sides of 0, where that is one zero.
  for (const Data data : {Data::gaussian, Data::cancelling, Data::integer})
    put("bf16 data " + std::to_string(static_cast<int>(data)) + " stored in f8e4m3fnuz", bf16, bf16, f32, data, [&](Product& p) { p.stored = *find_format("f8e4m3fnuz"); });
  // Long enough that leaves are not looked at one by one: special values among them, and partial sums that may overflow.
  for (const bool both : {false, true}) {
    put(std::string("long f32 specials") + (both ? " stored in bf16" : ""), f32, f32, f32, Data::specials, [&](Product& p) {
      p.m = 48, p.k = 1900, p.n = 48;
      if (both) p.stored = bf16;
    });
    put(std::string("long f32 specials in a format of little range") + (both ? " stored in bf16" : ""), f32, f32, make_format({.e = 4, .m = 18}), Data::specials, [&](Product& p) {
      p.m = 48, p.k = 1900, p.n = 48;
      if (both) p.stored = bf16;
    });
    put(std::string("long f32 gaussian in a format of little range") + (both ? " stored in bf16" : ""), f32, f32, make_format({.e = 4, .m = 18}), Data::gaussian, [&](Product& p) {
      p.m = 48, p.k = 1900, p.n = 48;
      if (both) p.stored = bf16;
    });
  }
  // Shapes that fill tiles, or leave a part of one; one run of terms, or several; small batches and strips of columns.
  struct Shape {
    std::int64_t batch, m, k, n;
  };
  constexpr Shape shapes[] = {{1, 8, 300, 8}, {1, 9, 257, 25}, {1, 17, 256, 33}, {1, 33, 513, 47}, {1, 130, 255, 49}, {1, 16, 700, 100}, {1, 40, 24, 1100}, {40, 32, 32, 32}, {6, 300, 16, 9}, {5, 24, 530, 20}};
  int turn = 0;
  for (const Shape& s : shapes)
    for (const Data data : {Data::gaussian, Data::specials, Data::sparse, Data::integer, Data::cancelling}) {
      const bool coarse = turn++ % 2;
      put(std::to_string(s.batch) + " x " + std::to_string(s.m) + " x " + std::to_string(s.k) + " x " + std::to_string(s.n) + ", data " + std::to_string(static_cast<int>(data)) + (coarse ? ", bf16" : ", f32"),
          coarse ? bf16 : f32, coarse ? bf16 : f32, f32, data, [&](Product& p) {
            p.batch = s.batch, p.m = s.m, p.k = s.k, p.n = s.n;
            p.rounds = false;
            p.stored = coarse ? bf16 : f32;
            p.transposed = turn % 3 == 0;
            p.left_transposed = turn % 4 == 0;
            p.both_batched = s.batch > 1 && s.m != 24 && data != Data::cancelling;
          });
    }
  // Exact but for the magnitude, whose last bits decide.
  for (const bool halves : {true, false})  // two products by BLAS with magnitudes in float32; in tiles
    put(std::string("bf16 absorbed stored in bf16") + (halves ? ", in halves" : ""), bf16, bf16, f32, Data::absorbed, [&](Product& p) {
      p.m = 256, p.n = 264, p.k = 66;
      p.halves = halves;
      p.stored = bf16;
    });
  // What is added to a product that is rounded at once: of its shape, a row or a column of it, in strips of columns.
  turn = 0;
  for (const Data data : {Data::gaussian, Data::specials, Data::sparse, Data::integer, Data::cancelling, Data::wide, Data::middles, Data::subnormal})
    for (const Format& in : {f32, bf16, f64})
      for (const Shape& s : {Shape{1, 24, 33, 40}, Shape{3, 17, 33, 25}, Shape{1, 9, 17, 1100}}) {
        if (s.n > 1000 && data != Data::gaussian) continue;
        if (data == Data::middles && !(in == f64)) continue;
        ++turn;
        put(std::to_string(s.batch) + " x " + std::to_string(s.m) + " x " + std::to_string(s.k) + " x " + std::to_string(s.n) + " of " + in.name + ", data " + std::to_string(static_cast<int>(data)) + ", and C", in, in, f32, data,
            [&](Product& p) {
              p.batch = s.batch, p.m = s.m, p.k = s.k, p.n = s.n;
              p.rounds = false;
              p.with_c = true;
              p.stored = in == f64 ? f32 : in;
              p.minus = turn % 2 == 0;
              p.one_row = turn % 3 == 0;
              p.one_column = turn % 5 == 0;
              p.both_batched = s.batch > 1 && turn % 7 != 0 && data != Data::cancelling;
            });
      }
  for (const bool minus : {false, true})
    put(std::string("f32 half way, and a little more or less") + (minus ? " subtracted" : ""), f32, f32, f32, Data::tied, [&](Product& p) {
      p.m = 24, p.k = 40, p.n = 48;
      p.rounds = false;
      p.with_c = true;
      p.stored = f32;
      p.minus = minus;
    });
  for (const bool minus : {false, true})
    put(std::string("f32 gaussian and C in strips") + (minus ? ", subtracted" : ""), f32, f32, f32, Data::gaussian, [&](Product& p) {
      p.m = 9, p.k = 440, p.n = 1100;  // enough that they are not looked at leaf by leaf
      p.with_c = true;
      p.minus = minus;
    });
  return all;
}

bool has_tier(const Counters& c) { return c.big > 0 || c.exact > 0; }

Found one(const Product& p, Figures& figures, bool every_tier) {
  const Operands o = operands_of(p, 11);
  const Evaluated fast = evaluate(p, o, 1, Tier::f64), exact = evaluate(p, o, 1, Tier::exact);
  const Plane &x = fast.set.planes.at(0), &y = exact.set.planes.at(0);
  ++figures.cases;
  if (((p.rounds && !p.within) || p.stored) && !has_tier(exact.counters)) return p.name + ": the exact tier did not run";
  if (Found f = against_exact(p, x, y)) return f;
  if ((fast.counters.rejected > 0) != planted_fault()) return p.name + ": the checksum is wrong about the product";
  if (p.rounds && !p.stored && p.sum == *find_format("f32") && p.flush == Flush::no && p.contraction != Contraction::always)
    if (Found f = against_floats(p, o, x, figures)) return f;
  if (!every_tier || p.data == Data::wide) return {};
  const Evaluated two = evaluate(p, o, 2, Tier::f64);
  const Plane& z = two.set.planes.at(0);
  if (!same(x.lo_d, z.lo_d) || !same(x.lo_u, z.lo_u) || !same(x.hi_d, z.hi_d) || !same(x.hi_u, z.hi_u)) return p.name + ": two threads give other sets";
  const Evaluated big = evaluate(p, o, 2, Tier::big);
  return against_exact(p, x, big.set.planes.at(0));
}

Found all_products(int effort, Figures& figures) {
  for (const Product& p : products())
    if (planted_fault() && (p.data != Data::gaussian || (p.stored && p.stored->precision() == 53))) continue;  // the latter multiply without BLAS
    else if (Found f = one(p, figures, effort > 0)) return f;
  return {};
}

}  // namespace

const std::vector<Check>& matrix_checks() {
  static const std::vector<Check> all = {{"matrix products", all_products}};
  return all;
}

}  // namespace erx::test
