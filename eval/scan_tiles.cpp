#include "eval/scan_tiles.hpp"

#include <algorithm>
#include <type_traits>

#include "eval/parallel.hpp"
#include "ops/scan_exact.hpp"
#include "ops/scan_tile.hpp"
#include "ops/stream_copy.hpp"

namespace erx {
namespace {

constexpr std::int64_t chunk = 16;  // steps that are copied at once where the lines of a tile do not lie side by side
constexpr std::int64_t streamed = std::int64_t{1} << 20;  // a result of so many elements leaves the caches before it is read again

/// Where one array is read or written for the lines of a tile: in place, or by way of a copy of `chunk` rows.
class Rows {
 public:
  Rows(const ScanNode::Read& read, const ScanNode& scan, std::int64_t first, std::int64_t lines) : step_(read.step) {
    for (std::int64_t i = 0; i < lines; ++i) {
      places_.push_back(read.at(scan.lines, first + i));
      in_place_ = in_place_ && places_.back() == places_.front() + i;
    }
  }

  /// Eight lines at a time: what is read stays in the cache until all of it was.
  template <class T>
  void read(const T* from, std::int64_t t, std::int64_t steps, std::vector<T>& copy) const {
    if (in_place_) return;
    copy.resize(stride() * static_cast<std::size_t>(chunk));
    each_block([&](std::size_t i, std::size_t count) {
      for (std::int64_t k = 0; k < steps; ++k)
        for (std::size_t j = i; j < i + count; ++j) copy[static_cast<std::size_t>(k) * stride() + j] = from[places_[j] + (t + k) * step_];
    });
  }
  template <class T>
  void write(T* to, std::int64_t t, std::int64_t steps, const std::vector<T>& copy, bool streams) const {
    if (in_place_) return;
    each_block([&](std::size_t i, std::size_t count) {
      T lines[8][chunk];
      const bool forward = step_ == 1, backward = step_ == -1;
      for (std::int64_t k = 0; k < steps; ++k)
        for (std::size_t j = 0; j < count; ++j) lines[j][backward ? steps - 1 - k : k] = copy[static_cast<std::size_t>(k) * stride() + i + j];
      for (std::size_t j = 0; j < count; ++j) {
        if (!forward && !backward) {
          for (std::int64_t k = 0; k < steps; ++k) to[places_[i + j] + (t + k) * step_] = lines[j][k];
          continue;
        }
        T* place = to + places_[i + j] + (backward ? -(t + steps - 1) : t);
        if constexpr (std::is_same_v<T, double>)
          if (streams) {
            stream_copy(lines[j], static_cast<std::size_t>(steps), place);
            continue;
          }
        std::copy_n(lines[j], steps, place);
      }
    });
  }
  /// The row of step t + k.
  template <class T>
  T* row(T* whole, std::int64_t t, std::int64_t k, std::vector<std::remove_const_t<T>>& copy) const {
    if (in_place_) return whole + places_.front() + (t + k) * step_;
    copy.resize(stride() * static_cast<std::size_t>(chunk));
    return copy.data() + static_cast<std::size_t>(k) * stride();
  }
  bool in_place() const { return in_place_; }

 private:
  std::vector<std::int64_t> places_;
  std::int64_t step_;
  bool in_place_ = true;

  /// Of rows: whole lines of the cache, and not a power of two, which would put all rows into the same few places of it.
  std::size_t stride() const { return (places_.size() + 7) / 8 * 8 + 8; }
  template <class Body>
  void each_block(const Body& body) const {
    for (std::size_t i = 0; i < places_.size(); i += 8) body(i, std::min<std::size_t>(8, places_.size() - i));
  }
};

/// One operand of a tile.
class OperandRows {
 public:
  OperandRows(const Engine& engine, const ScanNode::Read& read, const ScanNode& scan, std::int64_t first, std::int64_t lines)
      : rows_(read, scan, first, lines), lo_(engine.stored(read.node).hull.lo()), hi_(engine.stored(read.node).hull.hi()) {
    const auto& flags = engine.stored(read.node).hull.flags;
    flags_ = flags ? flags->data() : nullptr;
    if (engine.stored(read.node).is_point) hi_ = lo_;
  }

  void load(std::int64_t t, std::int64_t steps) {
    rows_.read(lo_, t, steps, lo_copy_);
    if (hi_ != lo_) rows_.read(hi_, t, steps, hi_copy_);
    if (flags_) rows_.read(flags_, t, steps, flags_copy_);
  }
  const double* lo(std::int64_t t, std::int64_t k) { return rows_.row(lo_, t, k, lo_copy_); }
  const double* hi(std::int64_t t, std::int64_t k) { return hi_ == lo_ ? lo(t, k) : rows_.row(hi_, t, k, hi_copy_); }

  /// Lines with a value that is no real number.
  template <class Open>
  void find_special(std::int64_t t, std::int64_t k, std::size_t lines, const Open& open) {
    if (!flags_) return;
    const std::uint8_t* f = rows_.row(flags_, t, k, flags_copy_);
    for (std::size_t i = 0; i < lines; ++i)
      if (f[i] & ~any_zero) [[unlikely]] open(i);
  }

 private:
  Rows rows_;
  const double *lo_, *hi_;
  const std::uint8_t* flags_;
  std::vector<double> lo_copy_, hi_copy_;
  std::vector<std::uint8_t> flags_copy_;
};

/// Lines whose states are exact so far, in any association: most lose that in the first steps.
class ExactLines {
 public:
  ExactLines(const ScanRule& rule, std::size_t lines) : states_(rule.in_order ? 0 : lines, ExactStates(rule)) {
    for (std::size_t i = 0; i < states_.size(); ++i) holding_.push_back(i);
  }
  void start(std::size_t i, double lo, double hi) {
    if (!states_.empty()) states_[i].start(lo, hi);
  }
  void step(const ScanStepRow& row, std::uint8_t zero) {
    std::size_t kept = 0;
    for (const std::size_t i : holding_) {
      ExactStates& s = states_[i];
      if (row.a_lo[i] != row.a_hi[i]) s.lose();
      s.step(row.a_lo[i], row.b_lo[i], row.b_hi[i]);
      if (!s.holds()) continue;
      row.lo[i] = s.lo();
      row.hi[i] = s.hi();
      row.flags[i] = s.lo() <= 0 && s.hi() >= 0 ? zero : 0;
      holding_[kept++] = i;
    }
    holding_.resize(kept);
  }

 private:
  std::vector<ExactStates> states_;
  std::vector<std::size_t> holding_;
};

void run_tile(Engine& engine, const ScanNode& scan, Plane& out, std::int64_t first, std::int64_t count, const std::function<void(std::int64_t)>& finer) {
  const auto lines = static_cast<std::size_t>(count);
  OperandRows a(engine, scan.a, scan, first, count), b(engine, scan.b, scan, first, count);
  const Rows results(scan.out, scan, first, count);
  const bool streams = size_of(scan.lines) * scan.steps >= streamed;
  std::vector<double> init_lo, init_hi;
  std::vector<std::size_t> special;
  ExactLines exact(scan.rule, lines);
  if (scan.init) {
    OperandRows init(engine, *scan.init, scan, first, count);
    init.load(0, 1);
    const double *lo = init.lo(0, 0), *hi = init.hi(0, 0);
    init_lo.assign(lo, lo + lines);
    if (hi != lo) init_hi.assign(hi, hi + lines);
    init.find_special(0, 0, lines, [&](std::size_t i) { special.push_back(i); });
    for (std::size_t i = 0; i < lines; ++i) exact.start(i, lo[i], hi[i]);
  }
  const double* const init_first = init_lo.empty() ? nullptr : init_lo.data();
  ScanTile tile(scan.rule, lines, init_first, init_hi.empty() ? init_first : init_hi.data());
  for (const std::size_t i : special) tile.open(i);
  const std::uint8_t zero = static_cast<std::uint8_t>(has_pzero | (scan.rule.format.has_negative_zero() ? has_nzero : 0));
  std::vector<double> lo_copy, hi_copy;
  std::vector<std::uint8_t> flags_copy;
  std::vector<ScanStepRow> rows;
  for (std::int64_t t = 0; t < scan.steps; t += chunk) {
    const std::int64_t steps = std::min(chunk, scan.steps - t);
    stop_if_asked(engine.options());
    a.load(t, steps);
    b.load(t, steps);
    rows.clear();
    for (std::int64_t k = 0; k < steps; ++k) {
      rows.push_back({a.lo(t, k), a.hi(t, k), b.lo(t, k), b.hi(t, k), results.row(out.lo_d->data(), t, k, lo_copy),
                            results.row(out.hi_u->data(), t, k, hi_copy), results.row(out.flags->data(), t, k, flags_copy)});
      a.find_special(t, k, lines, [&](std::size_t i) { tile.open(i); });
      b.find_special(t, k, lines, [&](std::size_t i) { tile.open(i); });
    }
    tile.run(rows.data(), rows.size(), streams && results.in_place());
    for (const ScanStepRow& row : rows) exact.step(row, zero);
    results.write(out.lo_d->data(), t, steps, lo_copy, streams);
    results.write(out.hi_u->data(), t, steps, hi_copy, streams);
    results.write(out.flags->data(), t, steps, flags_copy, false);
  }
  end_of_stream();
  for (std::size_t i = 0; i < lines; ++i) {
    if (!tile.is_open(i)) continue;
    stop_if_asked(engine.options());
    finer(first + static_cast<std::int64_t>(i));
  }
}

}  // namespace

bool is_scan_of_tiles(const ScanNode& scan) { return (scan.rule.in_order || scan.steps > scan.rule.hull_steps) && ScanTile::serves(scan.rule); }

void run_scan_tiles(Engine& engine, const ScanNode& scan, Plane& out, const std::function<void(std::int64_t)>& finer) {
  const std::int64_t lines = scan.steps > 0 ? size_of(scan.lines) : 0;
  // As many lines at a time as fit into the cache with what is kept of each, and some for every thread. Sets do not depend on it.
  const std::int64_t most = std::max<std::int64_t>(8, lines / (4 * thread_count(engine.options())));
  const std::int64_t width = engine.options().tile > 0 ? engine.options().tile : std::min<std::int64_t>(1024, most);
  parallel_blocks((lines + width - 1) / width, engine.options(), [&](std::int64_t k) {
    run_tile(engine, scan, out, k * width, std::min(width, lines - k * width), finer);
  });
}

}  // namespace erx
