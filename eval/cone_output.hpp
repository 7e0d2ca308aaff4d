// Where the tiles of an elementwise node are written. Upper ends and flags get arrays when a tile first needs them: most results are
// single numbers other than 0, and then one array is all there is.
//   ConeOutput out(n, tile, true);   out.put(tile, first, count);   Plane p = out.plane();
#pragma once
#include <mutex>

#include "eval/parallel.hpp"
#include "eval/set_tensor.hpp"
#include "ops/tile.hpp"

namespace erx {

class ConeOutput {
 public:
  /// n elements, at most `tile` at a time. `settled`: the sides of every end are one double.
  ConeOutput(std::int64_t n, std::int64_t tile, bool settled);

  /// Elements first .. first + count. Threads may write different tiles at the same time.
  void put(const Tile&, std::int64_t first, std::int64_t count);

  /// Where the settled single numbers of elements first .. , and their flags if some have one, are to be written instead.
  double* place(std::int64_t first) { return plane_.lo_d->data() + first; }
  std::uint8_t* flags(std::int64_t first);
  bool past_caches() const { return large_; }  // too much for them to hold

  /// By each thread after its tiles: before others read them. (Waiting after each tile would take as long as the tile.)
  void end_of_block() const;

  /// After all tiles.
  Plane plane(const EvaluateOptions&);
  bool is_point() const { return is_point_; }  // no tile had upper ends of its own

 private:
  std::int64_t n_, tile_;
  bool settled_, large_, is_point_ = true;
  Plane plane_;
  std::vector<std::uint8_t> has_upper_;  // by tile
  std::once_flag upper_once_, flags_once_;

  Plane::Array array() const { return std::make_shared<Doubles>(static_cast<std::size_t>(n_)); }
  void copy(const double* from, std::int64_t count, Plane::Array& to, std::int64_t first) const;
};

}  // namespace erx
