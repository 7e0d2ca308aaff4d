// erx eval: the set of every element, printed and saved.
#include <algorithm>
#include <iostream>

#include "bindings/arguments.hpp"
#include "bindings/call.hpp"
#include "bindings/commands.hpp"
#include "bindings/hull.hpp"
#include "bindings/readers.hpp"
#include "bindings/session.hpp"
#include "bindings/table.hpp"
#include "eval/number_text.hpp"

namespace erx {
namespace {

bool is_single(const Hull& hull, std::size_t i) {
  const std::uint8_t f = hull.flags[i];
  const int specials = ((f & has_nan) != 0) + ((f & has_pinf) != 0) + ((f & has_ninf) != 0);
  return f & no_reals ? specials == 1 : specials == 0 && hull.lo[i] == hull.hi[i];
}

/// `imag`: of a complex result, else nullptr.
void print(const std::string& name, const SetTensor& sets, const Hull& hull, const Hull* imag, std::size_t show) {
  const std::int64_t n = sets.size();
  std::int64_t single = 0;
  for (std::size_t i = 0; i < hull.lo.size(); ++i) single += is_single(hull, i) && (!imag || is_single(*imag, i));
  std::cout << name << ": " << to_string(sets.type) << to_string(shape_of(sets.extents)) << ", " << counted(n, "element") << ", " << single
            << " with a single value\n";
  Table table;
  const auto shown = static_cast<std::int64_t>(std::min<std::size_t>(show, hull.lo.size()));
  for (std::int64_t i = 0; i < shown; ++i) table.add({"  " + name + index_text(unravel(i, sets.extents)), element_text(sets, i)});
  std::cout << table.text();
  if (shown < n) std::cout << "  ... and " << n - shown << " more (--save writes all)\n";
}

void collect(std::vector<NamedArray>& arrays, const std::string& name, const SetTensor& sets, const Hull& hull) {
  const Type f64 = Type::of(*find_format("f64"));
  // of a complex result: NAME.real.lo and so on
  arrays.push_back({name + ".lo", Tensor::of(f64, sets.extents, hull.lo)});
  arrays.push_back({name + ".hi", Tensor::of(f64, sets.extents, hull.hi)});
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(hull.flags);
  Tensor t{Type::integer(8, false), Storage::u8, sets.extents, contiguous_strides(sets.extents), reinterpret_cast<const std::byte*>(bytes->data()), bytes, "", nullptr};
  arrays.push_back({name + ".flags", std::move(t)});
}

}  // namespace

int eval_command(const EvalArguments& arguments) {
  const LoadedSpec loaded = load_spec(arguments.spec);
  Call call = make_call(loaded.spec(), read_inputs(loaded.spec(), arguments.in));
  Session session(arguments.evaluation);
  Evaluation evaluation(call.graph, std::move(call.inputs), session.options());
  if (const auto failed = evaluation.failed_assumption()) {
    session.clear();
    std::cerr << "inapplicable: the spec assumes `" << *failed << "`, which does not hold for these inputs\n";
    return inapplicable;
  }
  std::vector<NamedArray> arrays;
  for (std::size_t i = 0; i < call.graph->results.size(); ++i) {
    const std::string name = result_name(call.graph->results[i].name);
    Hull all, all_imag;
    bool is_complex = false;
    for (std::size_t run = 0; run < evaluation.runs(); ++run) {  // of choices made once for the whole call
      const SetTensor& sets = evaluation.result(i, {}, run);
      const Hull hull = hull_of(sets), imag = hull_of_imag(sets);
      is_complex = sets.type.is_complex;
      session.clear();
      if (const std::string choice = evaluation.run_name(run); !choice.empty()) std::cout << "choice: " << choice << "\n";
      print(name, sets, hull, is_complex ? &imag : nullptr, arguments.show);
      if (run == 0) {
        all = hull;
        all_imag = imag;
      } else {
        join(all, hull);
        join(all_imag, imag);
      }
    }
    if (arguments.save.empty()) continue;
    collect(arrays, is_complex ? name + ".real" : name, evaluation.result(i), all);
    if (is_complex) collect(arrays, name + ".imag", evaluation.result(i), all_imag);
  }
  if (!arguments.save.empty()) write_npz(arguments.save, arrays);
  return covered;
}

}  // namespace erx
