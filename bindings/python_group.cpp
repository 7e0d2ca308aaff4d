#include "bindings/python_group.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <limits>
#include <mutex>
#include <thread>

#include "bindings/call.hpp"
#include "bindings/hull.hpp"
#include "bindings/python_tensor.hpp"
#include "bindings/signal_watch.hpp"
#include "ir/print.hpp"

namespace py = pybind11;

namespace erx {
namespace {

// One hull over all assignments of the labelled choices, of the sets or of their imaginary parts.
Hull hull_over_runs(Evaluation& evaluation, std::size_t result, Hull (*hull)(const SetTensor&)) {
  Hull all = hull(evaluation.result(result));
  for (std::size_t run = 1; run < evaluation.runs(); ++run) {
    join(all, hull(evaluation.result(result, {}, run)));
  }
  return all;
}

template <class T>
py::array to_array(const std::vector<double>& values, const Extents& extents) {
  py::array_t<T> array(extents);
  T* out = array.mutable_data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      // Ends past int64 can only come from an `int` without a width: the nearest that int64 holds.
      const double x = values[i];
      out[i] = x >= 0x1p63 ? std::numeric_limits<T>::max() : x < -0x1p63 ? std::numeric_limits<T>::min() : static_cast<T>(x);
    } else {
      out[i] = static_cast<T>(values[i]);
    }
  }
  return array;
}

}  // namespace

/// One evaluation. Several Python threads may ask at once: one works, the others wait.
struct Group::Evaluated {
  Composition composition;
  std::optional<Evaluation> evaluation;
  EvaluateOptions how;
  std::timed_mutex mutex;
  std::atomic<std::thread::id> owner{};
  std::atomic<bool> stop_flag = false;

  Evaluated(Composition what, const EvaluateOptions& options) : composition(std::move(what)), how(options) {
    how.stop = &stop_flag;
    how.poll = SignalWatch::poll;
  }

  template <class Work>
  auto run(const Work& work) -> decltype(work(std::declval<Evaluation&>())) {
    if (owner == std::this_thread::get_id()) return Evaluated(composition, how).run(work);  // a signal handler asks for what it interrupts
    SignalWatch watch;
    return watch.over([&] {
      while (!mutex.try_lock_for(std::chrono::milliseconds(20))) SignalWatch::poll();
      const std::lock_guard lock(mutex, std::adopt_lock);
      const Owner mine(owner);
      stop_flag = false;
      watch.stops(stop_flag);
      try {
        if (!evaluation) evaluation.emplace(composition.graph, composition.inputs, how);
        return work(*evaluation);
      } catch (const Interrupted&) {
        evaluation.reset();  // half-done
        throw;
      }
    });
  }

 private:
  struct Owner {
    explicit Owner(std::atomic<std::thread::id>& of) : of_(of) { of_ = std::this_thread::get_id(); }
    ~Owner() { of_ = std::thread::id(); }
    std::atomic<std::thread::id>& of_;
  };
};

Group::Group(std::vector<PieceResult> results, std::string name) : results_(std::move(results)), name_(std::move(name)) {}

Group::Group(std::shared_ptr<const PreparedCall> call, std::vector<Tensor> inputs)
    : call_(std::move(call)), inputs_(std::move(inputs)), age_(take_ages(2 * call_->graph->size())), name_(call_->graph->name) {}

std::size_t Group::size() const { return call_ ? call_->graph->results.size() : results_.size(); }

const std::string& Group::name(std::size_t i) const { return call_ ? call_->graph->results.at(i).name : results_.at(i).name; }

bool Group::is_declared(std::size_t i) const { return call_ ? call_->graph->results.at(i).declared.has_value() : results_.at(i).declared.has_value(); }

const Node& Group::node(std::size_t i) const { return call_ ? (*call_->graph)[call_->graph->results.at(i).node] : results_.at(i).piece->node; }

const std::vector<PieceResult>& Group::results() const {
  if (!call_ || !results_.empty()) return results_;
  const Graph& graph = *call_->graph;
  const auto token = std::make_shared<const int>();
  std::vector<PiecePtr> pieces;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Node& node = graph[graph.inputs[i]];
    pieces.push_back(input(node.attributes.text, inputs_[i], node.scalar_parameter, token));
  }
  return results_ = pieces_of(graph, pieces, age_);
}

std::shared_ptr<Group::Evaluated> Group::evaluated(const std::optional<Format>& compute) {
  auto& slot = evaluated_[compute ? compute->name : ""];
  if (slot) return slot;
  if (!call_ || compute) return slot = std::make_shared<Evaluated>(compose(results(), name_, compute), how_);
  Composition composition{call_->composed, {}, {}};
  for (const std::size_t i : call_->order) composition.inputs.push_back(inputs_[i]);
  return slot = std::make_shared<Evaluated>(std::move(composition), how_);
}

std::shared_ptr<Group> Group::evaluated_by(const EvaluateOptions& how) const {
  auto group = std::make_shared<Group>(results(), name_);
  group->how_ = how;
  return group;
}

std::string Group::text() const {
  std::vector<PieceResult> results = this->results();
  if (name_.empty()) {
    for (PieceResult& r : results) r.declared.reset();  // an expression, not a signature
  }
  return to_erx(*compose(results, name_).graph);
}

Report Group::check(std::vector<Tensor> outputs, const CheckOptions& options, const std::optional<Format>& compute) {
  const auto e = evaluated(compute);
  return e->run([&](Evaluation& evaluation) {
    const Graph& graph = evaluation.graph();
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = as_output(graph, graph.results.at(i), outputs[i]);
    return erx::check(evaluation, outputs, options);
  });
}

py::array Group::covers(std::size_t i, Tensor output, const CheckOptions& options, const std::optional<Format>& compute) {
  const auto e = evaluated(compute);
  const Extents extents = output.extents;
  const auto covered = e->run([&](Evaluation& evaluation) { return erx::covers(evaluation, i, output, options); });
  py::array_t<bool> array(extents);
  bool* out = array.mutable_data();
  for (std::size_t k = 0; k < covered.size(); ++k) out[k] = covered[k];
  return array;
}

py::tuple Group::hull(std::size_t i) {
  const auto e = evaluated({});
  Extents extents;
  Type type;
  Hull imag;
  const Hull hull = e->run([&](Evaluation& evaluation) {
    const SetTensor& set = evaluation.result(i);
    extents = set.extents;
    type = set.type;
    if (type.is_complex) imag = hull_over_runs(evaluation, i, hull_of_imag);
    return hull_over_runs(evaluation, i, hull_of);
  });
  if (type.is_complex) {
    const auto ends = [&](const std::vector<double>& re, const std::vector<double>& im) {
      py::array_t<std::complex<double>> array(extents);
      auto* out = array.mutable_data();
      for (std::size_t k = 0; k < re.size(); ++k) out[k] = {re[k], im[k]};
      return array;
    };
    return py::make_tuple(ends(hull.lo, imag.lo), ends(hull.hi, imag.hi), py::none());
  }
  const auto ends = [&](const std::vector<double>& values) -> py::array {
    // Integers are unbounded; beyond int64 their float64 ends are told.
    const auto is_int64 = [](double x) { return -0x1p63 <= x && x < 0x1p63; };
    if (type.is_integer() && std::all_of(hull.lo.begin(), hull.lo.end(), is_int64) && std::all_of(hull.hi.begin(), hull.hi.end(), is_int64)) return to_array<std::int64_t>(values, extents);
    if (type.is_boolean()) return to_array<bool>(values, extents);
    return to_array<double>(values, extents);
  };
  py::array_t<std::uint8_t> flags(extents);
  std::copy(hull.flags.begin(), hull.flags.end(), flags.mutable_data());
  return py::make_tuple(ends(hull.lo), ends(hull.hi), flags);
}

}  // namespace erx
