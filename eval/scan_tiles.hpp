// The bulk tier of a recurrence: lines side by side, in tiles, in float64 loops; what these leave open is done line by line.
//   run_scan_tiles(engine, scan, plane, [&](std::int64_t line) { ... });
#pragma once
#include <functional>

#include "eval/engine.hpp"
#include "eval/scan_node.hpp"

namespace erx {

/// Do the loops of ops/scan_tile.hpp serve the node, and does no sharper rule (short lines) take its place?
bool is_scan_of_tiles(const ScanNode&);

/// Fills `out`, whose ends are exact. `finer(line)` computes a whole line and writes it itself.
void run_scan_tiles(Engine&, const ScanNode&, Plane& out, const std::function<void(std::int64_t)>& finer);

}  // namespace erx
