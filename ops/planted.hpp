// Mistakes that were made, or nearly, in the rules of roundings and sums: each is planted in one place, and a test has to catch it.
// In the program planted() is constant false and the compiler drops the branch; the executable erx_planted chooses one at a time.
//   const R argument = planted(Mistake::no_error_in_argument) ? top : add(top, e);
#pragma once

namespace erx {

enum class Mistake {
  none,
  // one rounding
  ends_only,              // [-500, 500] in e4m3fn is NaN
  closed_where_even,      // 464 is NaN under rne
  open_for_away,          // 464 stays under rna
  open_where_odd,         // 65520 stays in f16
  nearest_point_for_up,   // the overflow point of rne under rtp and rtn
  edge_kept,              // under ftz what rounds up to the smallest normal is never flushed
  one_neighbour,          // sr and faithful round down only
  // rounding by a magic constant
  no_clamp,               // of the exponent
  no_copysign,            // -0 becomes +0
  lower_side_only,        // of an enclosure
  // approximate functions and `within`
  ulp_of_smaller_end,
  ulp_below_power_of_two, // the ulp of the binade below
  ulp_without_eta,
  no_eta_in_within,
  half_unit_in_within,
  kept_subnormals_in_within,
  exact_result_open,      // cos(0) is less than 1
  exact_end_unmoved,      // exp of [-x, 0] does not reach 1
  magnitude_of_lower_ends, // P over the leaves before they were widened
  // functions rounded by the bits of one double
  midpoint_unwatched,     // within the error
  error_unwatched,        // only the value itself is held against midpoints
  // bounds of any order
  one_leaf_less,          // n - 1 for products (n = K where a term C is added)
  no_underflow,           // products without the term n eta/2
  half_underflow,
  always_exact_products,  // the sum of the precisions alone makes products exact (tf32)
  infinities_only,        // saturating formats keep the finite part
  no_error_in_argument,   // ufp(T_k), without e_{k-1}
  previous_partial_sum,   // T_{k-1} for T_k
  kept_subnormal_leaves,  // under ftz an addition of zero flushes a leaf
  exact_first_products,   // e_1 = 0 for products
  no_underflow_in_chain,  // increments without the floor eta/2
  ufp_down,               // the first place of a lower bound
  grid_without_limit,     // partial sums on the grid, however large
  grid_below_eta,
  point_hull,             // sets: the bound around the lower end alone
  // other orders
  floor_of_parts,         // floor(n/s) leaves in each part
  lower_tree,             // h - 1
  only_rounded_products,  // a product of its own enters rounded only
  raw_product_at_root,
  always_fused,           // no accumulator that starts at zero
  binary_trees,           // no node of several terms
  fused_rounds_twice,     // a fused sum by way of float64
  first_product_not_fused,
  doubles_without_error,  // a sum in twice the precision, taken for exact
  lines_without_error,    // a sum of doubles, taken for exact
  grid_of_underflow,      // a product that is 0 in float64 has no grid
  no_store,               // parts stay in the format of the sum
  // functions known by their error
  ends_inward,            // a tiny rel gives no value at all
  overflow_no_step,       // the largest value has no neighbour
  own_negative_zero,      // -0 and +0 are two steps
  // casts
  wrap_of_ends,           // as if it were monotone
  // choices
  shared_choices,         // two choices are one
  no_correlation,         // a value that is read twice may be two values
  one_alternative,        // of a stochastic value that is read twice
  first_run_only,         // of the assignments of the labels
  mixed_results,          // each result under the labels that suit it
  split_by_element,       // the number of parts may differ from element to element
  parts_apart,            // of a complex number
  kept_subnormal_factors,
  leaves_term_by_term,    // sum(a - c) in order: all of a, then all of c
  // specials
  infinity_without_nan,   // a certain infinity meets no overflow of the other sign
  // tensor cores
  no_zero_products,       // in the largest exponent
  call_less,
  one_end,                // sets of products: around one end
  // matrix products in float64
  raw_norms,
  unscaled_norms,         // squares that underflow
  ratio_form,             // of the certificate: no product of grids, no range
  error_without_terms,    // a constant instead of n + 4
  inexact_is_exact,       // the grid certificate without its bound
  centre_only,            // rounds the centre
  zero_of_product,        // the sign of zero that the product computed
  unchecked_product,      // no checksum
  lost_piece,             // of a product in tiles: its last piece alone
  lost_residual,          // of what is added to a product: the sum is rounded, and nobody counts that
  narrowest_column,       // of a row, in place of the widest: its margin holds for the others
  grid_unwatched,         // ends of a whole row: sums that cannot round are taken for others
  one_side_overflows,     // of a whole row: partial sums below the lowest value are forgotten
  rest_unwatched,         // an infinite leaf: the others may overflow to the other side
  certified_in_float32,   // the certificate of the float64 product taken for the magnitude from float32
  float64_bound_in_float32,
  // recurrences
  scan_no_underflow,
  scan_lower_depth,       // D = t - 1 with h_0
  scan_in_order,          // a recurrence of intervals for any association
  scan_init_left_out,     // of G
  scan_exact_products,    // E = 0: products of the factors are not rounded
  scan_one_end,           // |a| of its lower end
  scan_flush_as_subnormal,// phi = eta/2 where results are flushed
  scan_overflow_of_states,// products of factors alone never overflow
  scan_range_at_end,      // the product of |a| over ranges that end at this step alone
  scan_first_step,        // h_1 is a_1 0 + b_1, never b_1
  scan_rounded_twice,     // the fused sum to float64 first, to nearest
  scan_unseen_overflow,   // in a line among others
  scan_subnormals_as_normal,  // no watch for values below the smallest normal
  scan_exact_in_float64,  // nothing added for what float64 loses of the state
  scan_middle_unseen,     // a fused sum in the middle of two values taken as it is
  scan_grid_of_states,    // exact states, whatever the products of factors are
  // loops
  loop_of_old_state,      // a step reads the state of the step before last
  loop_one_place_behind,  // the slices of the step before
  loop_without_last_step,
  sum_not_rounded,        // a rounding after a sum is given the sum's bound, not the value of F it rounds to
  room_below_power,       // as far from a power of two to the middle below it as to the one above
  // sums in sequence, in segments
  chain_odd_shift,        // ties fall another way
  chain_unwatched,        // the chain of a segment leaves its binade
  chain_shift_unwatched,  // so does the sum
  chain_at_power,         // a sum at the power of two below may have been rounded on a finer grid
  chain_first_alone,      // no room for the second chain, two places further
};

#ifdef ERX_PLANTED_MISTAKES
inline Mistake planted_mistake = Mistake::none;  // of erx_planted alone
inline bool planted(Mistake m) { return planted_mistake == m; }
constexpr bool planted_build = true;
inline bool wrong_blas = false;  // one element of each float64 product is wrong
inline bool planted_fault() { return wrong_blas; }
#else
constexpr bool planted(Mistake) { return false; }
constexpr bool planted_build = false;
constexpr bool planted_fault() { return false; }
#endif

}  // namespace erx
