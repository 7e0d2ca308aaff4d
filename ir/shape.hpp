// Tensor shapes whose dimensions are numbers or formulas over named dimensions.
// A spec is checked once with names ("K and N differ"), and again with the numbers of each call.
//   Dim("M") * Dim(2) == Dim("M") + Dim("M")
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace erx {

/// A polynomial with rational coefficients over dimension names, in canonical form, so that == is equality for all sizes.
class Dim {
 public:
  Dim(std::int64_t value = 0);
  explicit Dim(std::string name);

  bool is_number() const;
  std::int64_t value() const;  // Bug unless is_number()
  bool operator==(const Dim&) const = default;
  std::string to_string() const;  // "M", "2*K + 1", "K/128"

  friend Dim operator+(const Dim&, const Dim&);
  friend Dim operator-(const Dim&, const Dim&);
  friend Dim operator*(const Dim&, const Dim&);
  friend Dim divide(const Dim&, std::int64_t);  // exact division by a number

  /// With names replaced by numbers; empty if a name is missing, or the result is not an integer >= 0.
  std::optional<std::int64_t> evaluate(const std::map<std::string, std::int64_t>& sizes) const;
  std::vector<std::string> names() const;

 private:
  struct Coefficient {
    std::int64_t num = 0, den = 1;
    bool operator==(const Coefficient&) const = default;
  };
  using Monomial = std::vector<std::string>;  // sorted names; empty for the constant term
  std::map<Monomial, Coefficient> terms_;
  void add(const Monomial&, Coefficient);
};

using Shape = std::vector<Dim>;
using Extents = std::vector<std::int64_t>;  // a shape of numbers

std::string to_string(const Shape&);  // "[M, 4]", "[]" for 0-d
bool is_concrete(const Shape&);
Extents extents_of(const Shape&);  // Bug unless concrete
Shape shape_of(const Extents&);
std::int64_t size_of(const Extents&);
Extents contiguous_strides(const Extents&);  // in elements, row-major

/// NumPy broadcasting. Empty result: they do not broadcast, and `left`/`right` hold the axes counted from the end.
struct Clash {
  std::size_t axis_from_end;
  Dim left, right;
};
std::optional<Shape> broadcast(const Shape&, const Shape&, Clash* clash = nullptr);

}  // namespace erx
