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

void print(const std::string& name, const SetTensor& sets, const Hull& hull, std::size_t show) {
  const std::int64_t n = sets.size();
  std::int64_t single = 0;
  for (std::size_t i = 0; i < hull.lo.size(); ++i) {
    const std::uint8_t f = hull.flags[i];
    const int specials = ((f & has_nan) != 0) + ((f & has_pinf) != 0) + ((f & has_ninf) != 0);
    single += f & no_reals ? specials == 1 : specials == 0 && hull.lo[i] == hull.hi[i];
  }
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
  arrays.push_back({name + ".lo", Tensor::of(f64, sets.extents, hull.lo)});
  arrays.push_back({name + ".hi", Tensor::of(f64, sets.extents, hull.hi)});
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(hull.flags);
  Tensor t{Type::integer(8, false), Storage::u8, sets.extents, contiguous_strides(sets.extents), reinterpret_cast<const std::byte*>(bytes->data()), bytes, ""};
  arrays.push_back({name + ".flags", std::move(t)});
}

}  // namespace

int eval_command(const EvalArguments& arguments) {
  const LoadedSpec loaded = load_spec(arguments.spec);
  Call call = make_call(loaded.spec(), read_inputs(loaded.spec(), arguments.in));
  Session session(arguments.evaluation);
  Evaluation evaluation(call.graph, std::move(call.inputs), session.options());
  std::vector<NamedArray> arrays;
  for (std::size_t i = 0; i < call.graph->results.size(); ++i) {
    const std::string name = result_name(call.graph->results[i].name);
    Hull all;
    for (std::size_t run = 0; run < evaluation.runs(); ++run) {  // of choices made once for the whole call
      const SetTensor& sets = evaluation.result(i, {}, run);
      const Hull hull = hull_of(sets);
      session.clear();
      if (const std::string choice = evaluation.run_name(run); !choice.empty()) std::cout << "choice: " << choice << "\n";
      print(name, sets, hull, arguments.show);
      if (run == 0) all = hull;
      else join(all, hull);
    }
    if (!arguments.save.empty()) collect(arrays, name, evaluation.result(i), all);
  }
  if (!arguments.save.empty()) write_npz(arguments.save, arrays);
  return covered;
}

}  // namespace erx
