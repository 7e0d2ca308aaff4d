// One element's plain leaves in one order: in sequence, or in the tree of pairwise sums, whose blocks run several at a time and whose
// subtrees on all threads. A `k` adds numbers of the format: k.of(leaf), k.add(s, x).
//   sequence(k, line, 0, n, 1);   PairwiseLine(k, 128, readers, options).sum(n)
// source of the tree: halves until at most `block` leaves are left, those in sequence (1-language.md, orders)
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "eval/chain_segments.hpp"
#include "eval/number_adder.hpp"
#include "eval/parallel.hpp"

namespace erx {

/// Leaves [first, first + n), n at most `window`, valid until the next call.
using ReadLine = std::function<const double*(std::int64_t first, std::int64_t n)>;
constexpr std::int64_t window = 4096;

/// From leaf `first` on in steps of 1 or -1.
template <class K>
typename K::Number sequence(const K& k, const ReadLine& line, std::int64_t first, std::int64_t leaves, std::int64_t step) {
  ChainSegments<K> chain(k);
  typename K::Number sum{};
  for (std::int64_t done = 0; done < leaves;) {
    const std::int64_t n = std::min(window, leaves - done);
    const double* low = line(step > 0 ? first + done : first - done - (n - 1), n);
    const double* next = step > 0 ? low : low + (n - 1);
    sum = done == 0 ? chain.add(next + step, n - 1, step, k.of(*next)) : chain.add(next, n, step, sum);
    done += n;
  }
  return sum;
}

template <class K>
class PairwiseLine {
 public:
  using Number = typename K::Number;

  /// `reader` gives each thread a way to read of its own.
  PairwiseLine(const K& k, std::int64_t block, std::function<ReadLine()> reader, const EvaluateOptions& options)
      : k_(k), block_(block), part_(std::max<std::int64_t>(block, 1 << 17)), reader_(std::move(reader)), options_(options) {}

  Number sum(std::int64_t leaves) const {
    std::vector<Range> parts;
    cut({0, leaves}, parts);
    std::vector<Number> sums(parts.size());
    parallel_blocks(static_cast<std::int64_t>(parts.size()), options_, [&](std::int64_t i) {
      const ReadLine line = reader_();
      sums[static_cast<std::size_t>(i)] = tree(line, parts[static_cast<std::size_t>(i)]);
    });
    const Number* next = sums.data();
    return joined({0, leaves}, next);
  }

 private:
  struct Range {
    std::int64_t first, last;
    std::int64_t size() const { return last - first; }
    std::int64_t middle() const { return first + (last - first) / 2; }
    Range left() const { return {first, middle()}; }
    Range right() const { return {middle(), last}; }
  };
  const K k_;
  std::int64_t block_, part_;
  std::function<ReadLine()> reader_;
  const EvaluateOptions& options_;

  void cut(const Range& r, std::vector<Range>& parts) const {
    if (r.size() <= part_) return parts.push_back(r);
    cut(r.left(), parts);
    cut(r.right(), parts);
  }
  Number joined(const Range& r, const Number*& next) const {
    if (r.size() <= part_) return *next++;
    const Number left = joined(r.left(), next), right = joined(r.right(), next);
    return k_.add(left, right);
  }

  Number tree(const ReadLine& line, const Range& r) const {
    if (r.size() <= block_) return sequence(k_, line, r.first, r.size(), 1);
    const Range left = r.left(), right = r.right();
    if (left.size() > block_ && right.right().size() <= block_ && r.size() <= window) return four(line(r.first, r.size()), {left.left(), left.right(), right.left(), right.right()}, r.first);
    const Number a = tree(line, left), b = tree(line, right);
    return k_.add(a, b);
  }

  /// Four blocks, whose sizes differ by one at most, side by side: an addition waits for the one before it.
  Number four(const double* x, const Range (&r)[4], std::int64_t first) const {
    const double* p[4];
    Number s[4];
    std::int64_t common = r[0].size();
    for (int i = 0; i < 4; ++i) {
      p[i] = x + (r[i].first - first);
      s[i] = k_.of(p[i][0]);
      common = std::min(common, r[i].size());
    }
    for (std::int64_t j = 1; j < common; ++j)
      for (int i = 0; i < 4; ++i) s[i] = k_.add(s[i], k_.of(p[i][j]));
    for (int i = 0; i < 4; ++i) s[i] = add_run(k_, p[i] + common, r[i].size() - common, 1, s[i]);
    return k_.add(k_.add(s[0], s[1]), k_.add(s[2], s[3]));
  }
};

}  // namespace erx
