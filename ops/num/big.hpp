// A real number enclosed by two MPFR numbers at the precision of the Context. The only home of MPFR is big.cpp.
//   Big x = exp_of(Big::exact(1.0, {256}));   lower(x) < upper(x)
#pragma once
#include <memory>
#include <string_view>

#include "ops/num/set.hpp"

namespace erx {

class Big {
 public:
  Big();  // 0
  static Big exact(double, Context);
  static Big literal(std::string_view, Context);
  struct Ends;  // two mpfr numbers

 private:
  std::shared_ptr<const Ends> ends_;
};

}  // namespace erx
