// Tiles of a cone: every slot under one assignment of its choices, element by element in float64 enclosures.
//   TileRunner runner(engine, cone);  runner.start(first, count);  const Tile& root = runner.run(assignment);
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "eval/engine.hpp"
#include "ops/tile.hpp"

namespace erx {

constexpr std::int64_t n_tile = static_cast<std::int64_t>(tile_size);

/// One element under one assignment.
struct Member {
  double lo_d, lo_u, hi_d, hi_u;
  std::uint8_t flags;
};

inline Member member_of(const Tile& t, std::int64_t i) {
  const std::int64_t at = t.scalar ? 0 : i;
  Member m{t.lo_d[at], t.lo_u[at], t.hi_d[at], t.hi_u[at], t.plain ? std::uint8_t{0} : t.flags[at]};
  if (m.flags & no_reals) m.lo_d = m.lo_u = m.hi_d = m.hi_u = 0;
  return m;
}

inline bool is_undecided(const Member& m) {
  return (m.flags & undecided) || (!(m.flags & no_reals) && (m.lo_d != m.lo_u || m.hi_d != m.hi_u));
}

class TileRunner {
 public:
  TileRunner(const Engine& engine, const Cone& cone);
  void start(std::int64_t first, std::int64_t count);

  /// The root's tile under an assignment; slots whose choices have not changed are kept.
  const Tile& run(int assignment);
  const Tile& slot(int k) const { return tiles_[k]; }  // after run, if it is needed there

 private:
  /// Arrays of one slot, or of several that are not needed at the same time.
  struct Buffer {
    std::unique_ptr<double[]> values{new double[4 * tile_size]};  // not cleared
    std::unique_ptr<std::uint8_t[]> flags{new std::uint8_t[tile_size]};
    double* array(int k) { return values.get() + k * n_tile; }
  };

  const Engine& engine_;
  const Cone& cone_;
  std::vector<Buffer> buffers_;
  std::vector<int> buffer_of_;  // by slot
  static constexpr int alone = -1, no_step = -2;
  std::vector<int> fused_;      // by slot: of a rounding with one result the slot that it is done with (its own: none); `alone`; `no_step`: with its rounding
  std::vector<Tile> tiles_;
  std::vector<std::int64_t> key_;
  std::vector<std::uint64_t> depends_;
  std::vector<std::vector<int>> needed_;
  std::vector<Tile> operands_;  // of the step that runs
  std::int64_t first_ = 0, count_ = 0;

  void fuse();
  void assign_buffers();
  Buffer& buffer(int slot) { return buffers_[buffer_of_[slot]]; }
  std::int64_t key_of(int slot, int assignment) const;
  void load(int slot, int assignment);
  template <class T>
  void gather(const View& view, const T* from, T* to) const;
  void load_in_place(int slot, const Tensor& tensor);
  void step(int slot, int assignment);
  bool rounded_step(int slot, int before, int assignment);
};

}  // namespace erx
