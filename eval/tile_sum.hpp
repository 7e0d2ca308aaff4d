// Products of matrices, with what is added to each element, rounded at once or added up in a format in any order: each thread packs, multiplies and
// rounds a block of rows while it is in the cache. The product is ours and needs no checksum; inputs need no arrays.
//   if (is_tile_sum(...) && run_tile_sum(...)) the sum is filled
// bound: (c + 4) 2^-53 N_i N_j, where a term goes through at most c = min(K, s) + K / s additions, s = 128 or 256; norms as in eval/norms.hpp
#pragma once
#include "eval/matrix_ends.hpp"

namespace erx {

/// Is the term of a sum of these extents one product of matrices whose lines lie side by side in one direction or the other?
bool is_matrix_term(const Extents& extents, const Term&);

/// The one term that is a product of matrices, where all others have one leaf for each element; else nullptr.
const Term* matrix_term_of(const Extents& extents, const std::vector<Term>&);

/// Of shapes and formats alone: sums of these terms that are exact and then rounded by `then`, or rounded themselves.
bool suits_tiles(const Extents& extents, const std::vector<Term>& terms, bool rounds, const Node* then);

bool is_tile_sum(const Engine&, const SumNode&, const Node* then, bool settle, bool is_point);

/// returns: false, with nothing filled, where many elements would stay open, and pairs of doubles are faster (eval/pair_panel.hpp).
bool run_tile_sum(Engine&, const SumNode&, SumPlane& out, MatrixEnds::Goal);

}  // namespace erx
