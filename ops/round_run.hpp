// Numbers rounded on their way from one array into another, which are read and written once: the fast way to round what lies in memory.
//   found = round_run(round, in, out, n, true);   if (found != Decoded::nonzero) round_run(round, in, out, flags, n, true);
#pragma once
#include <cstddef>
#include <cstdint>

#include "ops/number_tile.hpp"
#include "ops/round_bulk.hpp"

namespace erx {

/// Is round_run right for it? (Formats and modes that BulkRounding has loops for, and one result.)
bool can_round_run(const BulkRounding&);

/// out[i] is in[i] rounded, and what that gave is returned: `special` if some in[i] is not finite or overflows, and then out is not to be used.
/// `past_caches`: out is not read soon. Then the caller calls end_of_stream (ops/stream_copy.hpp) before other threads read it.
Decoded round_run(const BulkRounding&, const double* in, double* out, std::size_t n, bool past_caches);
Decoded round_run(const BulkRounding&, const float* in, double* out, std::size_t n, bool past_caches);

/// The same, with the flags (ops/num/set.hpp) of each element, which zeros and overflows have. returns: false if some in[i] is not finite.
bool round_run(const BulkRounding&, const double* in, double* out, std::uint8_t* flags, std::size_t n, bool past_caches);
bool round_run(const BulkRounding&, const float* in, double* out, std::uint8_t* flags, std::size_t n, bool past_caches);

}  // namespace erx
