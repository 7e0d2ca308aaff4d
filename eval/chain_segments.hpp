// A chain of rounded additions in segments side by side, bit for bit what it is one addition after another, each of which would wait
// for the one before. Segments start in the middle of the sum's binade, and their ends are moved to where the sum really is:
// rounding is the same everywhere in a binade, but for ties, which see whether the last place is even. So two chains run for each segment,
// one place apart, and the one at an even distance counts. Where a chain may have left the binade, its leaves are added one by one.
//   ChainSegments<InFloat> chain(k);   s = chain.add(leaves, n, 1, s);   // = add_run(k, leaves, n, 1, s)
// source: the proof is in docs/soundness.md, "Sums in sequence, in segments"
#pragma once
#include <cstdint>

#include "eval/number_adder.hpp"

namespace erx {

/// Chains of segments of `length` leaves from made-up starts in one binade: of each segment a chain, the least and the greatest of its sums,
/// and a chain that starts one place further from zero.
template <class Number>
struct Chains {
  static constexpr std::int64_t lanes = 16, longest = 256;  // a longer segment loses more where it leaves its binade
  std::int64_t low = -1, length = 0;                        // the bits of the power of two below
  bool negative = false;
  Number first[lanes], least[lanes], greatest[lanes], second[lanes];
};

template <class K>
class ChainSegments {
 public:
  using Number = typename K::Number;
  explicit ChainSegments(const K& k) : k_(k) {}

  /// s and then x[0], x[step], .. x[(n - 1) step]; `step` is 1 or -1. The same leaves may come in parts.
  Number add(const double* x, std::int64_t n, std::int64_t step, Number s);

  /// The same in two steps, of which the first needs to know no more than the binade: that of `near`. False: segments do not help there.
  bool run(const double* x, std::int64_t length, std::int64_t step, Number near, Chains<Number>& chains) const;
  bool fits(const Chains<Number>& chains, Number s) const { return binade(s, chains.negative) == chains.low && chains.low >= 0; }
  /// `leaves(first, n)` are those of the segments, in their direction. `done`: how many were added, before the sum left the binade.
  template <class Leaves>
  Number join(const Chains<Number>& chains, std::int64_t step, const Leaves& leaves, Number s, std::int64_t& done);

  /// Did segments not help of late?
  bool rests() const { return rest_ > 0; }
  /// Leaves that were not added one by one.
  std::int64_t in_segments() const { return in_segments_; }

 private:
  const K k_;
  // Where segments leave their binade again and again, leaves are added one by one for a while: how many more, and how many last time.
  std::int64_t rest_ = 0, pause_ = 0, credit_ = 0, in_segments_ = 0;

  std::int64_t binade(Number s, bool negative) const;
  bool segment(const Chains<Number>& chains, std::int64_t j, std::int64_t& at) const;
  void note(std::int64_t taken, std::int64_t length);
  static std::int64_t bits(Number magnitude);
  static Number number(std::int64_t bits, bool negative);
};

template <class K>
template <class Leaves>
typename K::Number ChainSegments<K>::join(const Chains<Number>& chains, std::int64_t step, const Leaves& leaves, Number s, std::int64_t& done) {
  std::int64_t taken = 0, at = bits(chains.negative ? -s : s);
  done = 0;
  for (std::int64_t j = 0; j < chains.lanes; ++j, done += chains.length) {
    if (segment(chains, j, at)) {
      ++taken;
      continue;
    }
    s = add_run(k_, leaves(done, chains.length), chains.length, step, number(at, chains.negative));
    if (!fits(chains, s)) {
      done += chains.length;
      note(taken, chains.length);
      return s;
    }
    at = bits(chains.negative ? -s : s);
  }
  note(taken, chains.length);
  return number(at, chains.negative);
}

extern template class ChainSegments<InFloat>;
extern template class ChainSegments<InDouble>;
extern template class ChainSegments<Rounded>;

}  // namespace erx
