#include "ir/rounding.hpp"

#include <array>
#include <utility>

namespace erx {
namespace {

constexpr std::array<std::pair<Mode, std::string_view>, 8> modes{{{Mode::rne, "rne"},
                                                                  {Mode::rna, "rna"},
                                                                  {Mode::rtz, "rtz"},
                                                                  {Mode::rtp, "rtp"},
                                                                  {Mode::rtn, "rtn"},
                                                                  {Mode::rto, "rto"},
                                                                  {Mode::sr, "sr"},
                                                                  {Mode::faithful, "faithful"}}};
constexpr std::array<std::pair<Overflow, std::string_view>, 4> overflows{{{Overflow::by_format, ""},
                                                                         {Overflow::sat, "sat"},
                                                                         {Overflow::sat_finite, "sat_finite"},
                                                                         {Overflow::nosat, "nosat"}}};
constexpr std::array<std::pair<Flush, std::string_view>, 3> flushes{
    {{Flush::no, "no"}, {Flush::yes, "yes"}, {Flush::free, "free"}}};

template <class Table, class Key>
std::string_view name_in(const Table& table, Key key) {
  for (const auto& [k, name] : table)
    if (k == key) return name;
  return {};
}

}  // namespace

std::string_view name_of(Mode m) { return name_in(modes, m); }
std::string_view name_of(Overflow o) { return name_in(overflows, o); }
std::string_view name_of(Flush f) { return name_in(flushes, f); }

std::optional<Mode> find_mode(std::string_view name) {
  for (const auto& [mode, text] : modes)
    if (text == name) return mode;
  return {};
}

std::optional<Overflow> find_overflow(std::string_view name) {
  for (const auto& [overflow, text] : overflows)
    if (!text.empty() && text == name) return overflow;
  return {};
}

}  // namespace erx
