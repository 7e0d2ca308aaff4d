#include "grammar/foreign.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace erx {
namespace {

constexpr std::string_view loop = "a loop is `fold (state = start) over i in 0..N { ..; next state }`";
constexpr std::string_view choice = "a condition picks with where(c, x, y)";
constexpr std::string_view alone = "functions stand alone: exp(x)";
constexpr std::string_view rounds = "a format rounds: f32(x), round<bf16>(x)";
constexpr std::string_view index = "an index adds and drops axes: x[:, None], x[:, 0]";

constexpr std::array table = {
    // functions
    Foreign{"arange", "iota", ""}, Foreign{"ln", "log", ""}, Foreign{"concatenate", "concat", ""}, Foreign{"cat", "concat", ""},
    Foreign{"absolute", "abs", ""}, Foreign{"fabs", "abs", ""}, Foreign{"power", "pow", ""}, Foreign{"logistic", "sigmoid", ""},
    Foreign{"expit", "sigmoid", ""}, Foreign{"amax", "max", ""}, Foreign{"amin", "min", ""}, Foreign{"broadcast_to", "broadcast", ""},
    Foreign{"expand", "broadcast", ""}, Foreign{"permute", "transpose", ""}, Foreign{"clip", "clamp", ""}, Foreign{"select", "where", ""},
    Foreign{"repeat_interleave", "repeat", ""}, Foreign{"view", "reshape", ""}, Foreign{"remainder", "", "write x % y"},
    Foreign{"reciprocal", "", "write 1 / x"}, Foreign{"square", "", "write x * x"}, Foreign{"unsqueeze", "", index}, Foreign{"squeeze", "", index},
    Foreign{"expand_dims", "", index}, Foreign{"astype", "", rounds}, Foreign{"to", "", rounds}, Foreign{"type", "", rounds},
    Foreign{"float", "", rounds}, Foreign{"half", "", rounds}, Foreign{"bfloat16", "", rounds}, Foreign{"shape", "", "dimensions have names, and len(x) is the first"},
    Foreign{"size", "", "dimensions have names, and len(x) is the first"}, Foreign{"range", "", loop},
    // statements and values
    Foreign{"for", "", loop}, Foreign{"while", "", loop}, Foreign{"if", "", choice}, Foreign{"else", "", choice},
    Foreign{"def", "", "a kernel is `spec name(x: f32[N]) -> f32[N] { .. }`, a function `fn name(x) = ..`"}, Foreign{"lambda", "", "a function is `fn name(x) = ..`"},
    Foreign{"INF", "inf", ""}, Foreign{"Inf", "inf", ""}, Foreign{"infinity", "inf", ""}, Foreign{"NAN", "nan", ""}, Foreign{"NaN", "nan", ""},
    Foreign{"True", "true", ""}, Foreign{"False", "false", ""}, Foreign{"np", "", alone}, Foreign{"numpy", "", alone}, Foreign{"torch", "", alone},
    Foreign{"jnp", "", alone}, Foreign{"math", "", alone}, Foreign{"tl", "", alone}, Foreign{"F", "", alone},
    // types and arguments
    Foreign{"fp8", "f8e4m3fn", ""}, Foreign{"float8", "f8e4m3fn", ""}, Foreign{"fp8e4m3", "f8e4m3fn", ""}, Foreign{"fp8e5m2", "f8e5m2", ""},
    Foreign{"fp4", "f4e2m1fn", ""}, Foreign{"number", "real", ""}, Foreign{"boolean", "bool", ""}, Foreign{"integer", "int", ""}, Foreign{"dim", "axis", ""},
    Foreign{"keepdim", "keepdims", ""},
    // signs
    Foreign{"&&", "and", ""}, Foreign{"||", "or", ""}, Foreign{"&", "and", ""}, Foreign{"|", "or", ""}, Foreign{"!", "not ", ""},
    Foreign{"~", "not ", ""}, Foreign{"^", "**", ""}, Foreign{"?", "", choice},
};

}  // namespace

const Foreign* foreign(std::string_view word) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Foreign& f) { return f.word == word; });
  return found == table.end() ? nullptr : &*found;
}

bool tell_foreign(Diagnostic& d, std::string_view word, const Span& at) {
  const Foreign* f = foreign(word);
  if (!f) return false;
  if (f->here.empty())
    std::move(d).note({}, std::string(f->note));
  else
    std::move(d).note({}, "here it is `" + std::string(f->here.substr(0, f->here.find(' '))) + "`").suggest(at, std::string(f->here));
  return true;
}

}  // namespace erx
