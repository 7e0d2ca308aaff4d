// How one rounding is done: direction, what overflow gives, whether subnormal results are flushed.
// These belong to the node that rounds, not to the format.
//   round<bf16, rtz, sat>   ->   Rounding{Mode::rtz, Overflow::sat, Flush::no}
#pragma once
#include <optional>
#include <string_view>

namespace erx {

enum class Mode { rne, rna, rtz, rtp, rtn, rto, sr, faithful };
enum class Overflow { by_format, sat, sat_finite, nosat };
enum class Flush { no, yes, free };

struct Rounding {
  Mode mode = Mode::rne;
  Overflow overflow = Overflow::by_format;
  Flush flush = Flush::no;
  bool operator==(const Rounding&) const = default;
};

std::string_view name_of(Mode);
std::string_view name_of(Overflow);  // "" for by_format
std::string_view name_of(Flush);
std::optional<Mode> find_mode(std::string_view);
std::optional<Overflow> find_overflow(std::string_view);

}  // namespace erx
