// Which formula is the gradient of which row. A row that a graph may hold and that is missing here fails a test.
#include <map>

#include "ir/error.hpp"
#include "ops/gradients.hpp"

namespace erx {

const GradientRule& gradient_of(const Op& row) {
  using namespace gradients;
  constexpr std::string_view rounds = "a rounding is a step: it has no gradient", chooses = "a choice has no one value",
                             is_complex = "gradients are of real numbers: differentiate by the parts, which complex(x, y) puts together";
  // Steps pass nothing on: their derivative is 0 where there is one.
  static const std::map<std::string_view, GradientRule> rules = {
      {"input", {none}}, {"literal", {none}}, {"iota", {none}},
      {"add", {add}}, {"sub", {sub}}, {"mul", {mul}}, {"div", {div}}, {"fma", {fma}}, {"neg", {neg}}, {"abs", {abs}}, {"sign", {none}},
      {"minimum", {minimum}}, {"maximum", {maximum}}, {"fmin", {fmin}}, {"fmax", {fmax}}, {"clamp", {clamp}},
      {"lt", {none}}, {"le", {none}}, {"gt", {none}}, {"ge", {none}}, {"eq", {none}}, {"ne", {none}},
      {"and", {none}}, {"or", {none}}, {"not", {none}}, {"where", {where}},
      {"floor", {none}}, {"ceil", {none}}, {"trunc", {none}}, {"rint", {none}}, {"floordiv", {none}}, {"mod", {mod}},
      {"sqrt", {sqrt}}, {"rsqrt", {rsqrt}}, {"exp", {exp}}, {"exp2", {exp2}}, {"expm1", {expm1}}, {"log", {log}}, {"log2", {log2}},
      {"log10", {log10}}, {"log1p", {log1p}}, {"sin", {sin}}, {"cos", {cos}}, {"tanh", {tanh}}, {"erf", {erf}},
      {"sigmoid", {sigmoid}}, {"pow", {pow}},
      {"round", {nullptr, rounds}}, {"any_of", {nullptr, chooses}}, {"within", {nullptr, rounds}}, {"acc", {nullptr, rounds}},
      {"within_sum", {nullptr, rounds}}, {"scan", {nullptr, "write its gradient as a scan from the other end: dh_t = dy_t + a_(t+1) dh_(t+1)"}}, {"fold", {nullptr, "a loop is differentiated step by step: it is written out first"}}, {"state", {nullptr, "a loop is differentiated step by step: it is written out first"}}, {"approx", {nullptr, rounds}}, {"cast", {nullptr, rounds}}, {"wrap", {nullptr, rounds}},
      {"saturate", {nullptr, rounds}},
      {"max", {extremum}}, {"min", {extremum}}, {"prod", {prod}}, {"any", {none}}, {"all", {none}}, {"cumprod", {cumprod}},
      {"argmax", {none}}, {"sum", {sum}}, {"cumsum", {cumsum}}, {"matmul", {matmul}},
      {"reshape", {reshape}}, {"transpose", {transpose}}, {"broadcast", {broadcast}}, {"index", {index}}, {"diagonal", {diagonal}},
      {"concat", {concat}},
      {"complex", {nullptr, is_complex}}, {"real", {nullptr, is_complex}}, {"imag", {nullptr, is_complex}}, {"conj", {nullptr, is_complex}},
      {"hypot", {nullptr, is_complex}},
  };
  const auto found = rules.find(row.name);
  static const GradientRule rounded = {nullptr, rounds}, unknown = {nullptr, "no rule for its gradient is known"};
  if (found != rules.end()) return found->second;
  return row.freedom ? rounded : unknown;
}

}  // namespace erx
