// A rational number known exactly, or "not a rational this type can tell" (exp(1), sqrt(2)). The only home of GMP is exact.cpp.
//   div(Exact::exact(1), Exact::exact(3))   is 1/3
#pragma once
#include <memory>
#include <string_view>

#include "ops/num/set.hpp"

namespace erx {

class Exact {
 public:
  Exact();  // 0
  static Exact exact(double, Context = {});
  static Exact literal(std::string_view, Context = {});
  bool is_known() const;
  struct Value;

 private:
  std::shared_ptr<const Value> value_;
};

}  // namespace erx
