// Plants one mistake after another in the rules of roundings, sums and choices and prints what caught each. One that nothing catches fails the test.
#include <cstdio>
#include <string_view>

#include "ops/planted.hpp"
#include "tests/choice/checks.hpp"
#include "tests/loop/checks.hpp"
#include "tests/round/checks.hpp"
#include "tests/scan/checks.hpp"
#include "tests/sum/checks.hpp"

using namespace erx;
using namespace erx::test;

namespace {

enum class Part { roundings, functions, open_ends, orders, tensor_cores, bounds, choices, recurrences, recurrence_tiles, loops, lines, chains, matrices };

struct Planted {
  Mistake mistake;
  const char* name;
  Part part;
};

#define ERX_PLANTED(mistake, part) {Mistake::mistake, #mistake, Part::part}
constexpr Planted all[] = {
    ERX_PLANTED(ends_only, roundings),           ERX_PLANTED(closed_where_even, roundings),  ERX_PLANTED(open_for_away, roundings),
    ERX_PLANTED(open_where_odd, roundings),      ERX_PLANTED(nearest_point_for_up, roundings), ERX_PLANTED(edge_kept, roundings),
    ERX_PLANTED(one_neighbour, roundings),       ERX_PLANTED(no_clamp, roundings),           ERX_PLANTED(no_copysign, roundings),
    ERX_PLANTED(lower_side_only, roundings),     ERX_PLANTED(ulp_of_smaller_end, roundings), ERX_PLANTED(ulp_below_power_of_two, roundings),
    ERX_PLANTED(ulp_without_eta, roundings),     ERX_PLANTED(no_eta_in_within, roundings),   ERX_PLANTED(half_unit_in_within, roundings),
    ERX_PLANTED(kept_subnormals_in_within, roundings), ERX_PLANTED(magnitude_of_lower_ends, orders),
    ERX_PLANTED(one_leaf_less, orders),          ERX_PLANTED(no_underflow, orders),          ERX_PLANTED(half_underflow, orders),
    ERX_PLANTED(always_exact_products, orders),  ERX_PLANTED(infinities_only, orders),       ERX_PLANTED(no_error_in_argument, orders),
    ERX_PLANTED(previous_partial_sum, orders),   ERX_PLANTED(kept_subnormal_leaves, orders), ERX_PLANTED(exact_first_products, orders),
    ERX_PLANTED(no_underflow_in_chain, orders),  ERX_PLANTED(ufp_down, orders),              ERX_PLANTED(grid_without_limit, orders),
    ERX_PLANTED(grid_below_eta, orders),         ERX_PLANTED(point_hull, orders),            ERX_PLANTED(floor_of_parts, orders),
    ERX_PLANTED(lower_tree, orders),             ERX_PLANTED(only_rounded_products, orders), ERX_PLANTED(raw_product_at_root, orders),
    ERX_PLANTED(always_fused, orders),           ERX_PLANTED(binary_trees, orders),          ERX_PLANTED(no_store, orders),
    ERX_PLANTED(infinity_without_nan, orders),   ERX_PLANTED(no_zero_products, tensor_cores), ERX_PLANTED(call_less, tensor_cores),
    ERX_PLANTED(one_end, tensor_cores),          ERX_PLANTED(raw_norms, matrices),           ERX_PLANTED(unscaled_norms, matrices),
    ERX_PLANTED(ratio_form, matrices),           ERX_PLANTED(error_without_terms, matrices),  ERX_PLANTED(inexact_is_exact, matrices),    ERX_PLANTED(centre_only, matrices),
    ERX_PLANTED(zero_of_product, matrices),      ERX_PLANTED(unchecked_product, matrices), ERX_PLANTED(lost_piece, matrices),
    ERX_PLANTED(narrowest_column, matrices), ERX_PLANTED(grid_unwatched, matrices), ERX_PLANTED(rest_unwatched, matrices), ERX_PLANTED(one_side_overflows, matrices), ERX_PLANTED(lost_residual, matrices),
    ERX_PLANTED(ends_inward, bounds),            ERX_PLANTED(overflow_no_step, bounds),      ERX_PLANTED(own_negative_zero, bounds),
    ERX_PLANTED(wrap_of_ends, bounds),
    ERX_PLANTED(midpoint_unwatched, functions),  ERX_PLANTED(error_unwatched, functions),
    ERX_PLANTED(exact_result_open, open_ends),   ERX_PLANTED(exact_end_unmoved, open_ends),
    ERX_PLANTED(shared_choices, choices),        ERX_PLANTED(no_correlation, choices),       ERX_PLANTED(one_alternative, choices),
    ERX_PLANTED(first_run_only, choices),        ERX_PLANTED(mixed_results, choices),        ERX_PLANTED(split_by_element, choices),
    ERX_PLANTED(parts_apart, choices),           ERX_PLANTED(kept_subnormal_factors, choices),   ERX_PLANTED(leaves_term_by_term, choices),
    ERX_PLANTED(scan_no_underflow, recurrences), ERX_PLANTED(scan_lower_depth, recurrences), ERX_PLANTED(scan_in_order, recurrences),
    ERX_PLANTED(scan_init_left_out, recurrences), ERX_PLANTED(scan_exact_products, recurrences), ERX_PLANTED(scan_one_end, recurrences),
    ERX_PLANTED(scan_flush_as_subnormal, recurrences), ERX_PLANTED(scan_overflow_of_states, recurrences),
    ERX_PLANTED(scan_rounded_twice, recurrence_tiles), ERX_PLANTED(scan_unseen_overflow, recurrence_tiles),
    ERX_PLANTED(scan_subnormals_as_normal, recurrence_tiles), ERX_PLANTED(scan_exact_in_float64, recurrence_tiles),
    ERX_PLANTED(scan_middle_unseen, recurrence_tiles), ERX_PLANTED(scan_range_at_end, recurrences), ERX_PLANTED(scan_first_step, recurrences), ERX_PLANTED(scan_grid_of_states, recurrences),
    ERX_PLANTED(loop_of_old_state, loops),       ERX_PLANTED(loop_one_place_behind, loops), ERX_PLANTED(loop_without_last_step, loops),
    ERX_PLANTED(certified_in_float32, matrices), ERX_PLANTED(float64_bound_in_float32, matrices), ERX_PLANTED(sum_not_rounded, matrices),
    ERX_PLANTED(fused_rounds_twice, lines),      ERX_PLANTED(first_product_not_fused, lines), ERX_PLANTED(grid_of_underflow, lines),
    ERX_PLANTED(doubles_without_error, matrices), ERX_PLANTED(room_below_power, matrices), ERX_PLANTED(lines_without_error, lines),
    ERX_PLANTED(chain_odd_shift, chains),        ERX_PLANTED(chain_unwatched, chains),       ERX_PLANTED(chain_shift_unwatched, chains),
    ERX_PLANTED(chain_at_power, chains),         ERX_PLANTED(chain_first_alone, chains),
};
#undef ERX_PLANTED

/// The first check that fails, with what it says; more cases only where few find nothing.
std::string caught_by(Part part) {
  const auto& checks = part == Part::roundings      ? rounding_checks()
                       : part == Part::functions    ? function_checks()
                       : part == Part::open_ends    ? open_end_checks()
                       : part == Part::orders       ? order_checks()
                       : part == Part::tensor_cores ? tensor_core_checks()
                       : part == Part::bounds       ? bound_checks()
                       : part == Part::choices      ? choice_checks()
                       : part == Part::recurrences  ? scan_checks()
                       : part == Part::recurrence_tiles ? scan_tile_checks()
                       : part == Part::loops        ? loop_checks()
                       : part == Part::lines        ? line_checks()
                       : part == Part::chains       ? chain_checks()
                                                    : matrix_checks();
  for (int effort : {20, 100, 400}) {
    if (part == Part::matrices && effort > 20) break;
    for (const Check& check : checks) {
      Figures figures;
      if (const auto found = check.run(part == Part::matrices ? 0 : effort, figures)) return check.name + ": " + *found;
    }
  }
  return "";
}

}  // namespace

// No argument: everything. NAME: that mistake, or wrong_product. K/N: the K-th of N parts, which may run side by side.
int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  int part = 1, parts = 1;
  const bool shared = std::sscanf(argc > 1 ? argv[1] : "", "%d/%d", &part, &parts) == 2 && part >= 1 && part <= parts;
  int turn = 0, done = 0;
  const auto mine = [&](std::string_view name) {
    const bool is_mine = shared || wanted.empty() ? turn++ % parts == part - 1 : wanted == name;
    done += is_mine;
    return is_mine;
  };
  int survived = 0;
  for (const Part p : {Part::roundings, Part::functions, Part::open_ends, Part::orders, Part::tensor_cores, Part::bounds, Part::choices, Part::recurrences, Part::recurrence_tiles, Part::loops, Part::lines, Part::chains}) {
    if (!mine("no_mistake")) continue;
    const std::string found = caught_by(p);
    if (!found.empty()) std::printf("without a mistake: %s\n", found.c_str());
    survived += !found.empty();
  }
  // A product that is wrong in one element does no harm: the checksum sends its panel to the exact sums.
  if (mine("wrong_product")) {
    wrong_blas = true;
    const std::string found = caught_by(Part::matrices);
    if (!found.empty()) std::printf("a wrong float64 product: %s\n", found.c_str());
    survived += !found.empty();
  }
  for (const Planted& p : all) {
    if (!mine(p.name)) continue;
    planted_mistake = p.mistake;
    wrong_blas = p.mistake == Mistake::unchecked_product;
    const std::string found = caught_by(p.part);
    survived += found.empty();
    std::printf("%-24s %.150s\n", p.name, found.empty() ? "NOT CAUGHT" : found.c_str());
    std::fflush(stdout);
  }
  std::printf("%d not caught\n", survived);
  return survived != 0 || done == 0;
}
