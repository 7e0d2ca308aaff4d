// The extension module `_erx` under the package `erx`: thin, typed and without policy. What users call is in bindings/erx/*.py.
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/call.hpp"
#include "bindings/composition.hpp"
#include "bindings/python_group.hpp"
#include "bindings/python_tensor.hpp"
#include "bindings/report_json.hpp"
#include "bindings/traced_loop.hpp"
#include "eval/bind.hpp"
#include "eval/float_guard.hpp"
#include "eval/picture.hpp"
#include "grammar/program.hpp"
#include "grammar/scan.hpp"
#include "ops/op.hpp"

namespace py = pybind11;

namespace erx {
namespace {

Rounding rounding_of(const std::string& mode, const std::string& overflow, bool flush) {
  Rounding rounding;
  const auto m = find_mode(mode);
  if (!m) throw Error("unknown rounding mode `" + mode + "`; there are rne rna rtz rtp rtn rto sr faithful");
  rounding.mode = *m;
  if (!overflow.empty()) {
    const auto o = find_overflow(overflow);
    if (!o) throw Error("unknown overflow rule `" + overflow + "`; there are sat sat_finite nosat");
    rounding.overflow = *o;
  }
  rounding.flush = flush ? Flush::yes : Flush::no;
  return rounding;
}

/// (kind, start, step, count) with kind "range", "index" or "new".
using PythonSlice = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;

std::vector<Slice> slices_of(const std::vector<PythonSlice>& python) {
  std::vector<Slice> slices;
  for (const auto& [kind, start, step, count] : python) {
    const auto what = kind == "index" ? Slice::Kind::index : kind == "new" ? Slice::Kind::new_axis : Slice::Kind::range;
    slices.push_back({what, start, step, count});
  }
  return slices;
}

PiecePtr round_piece(PiecePtr x, const std::string& format, const std::string& mode, const std::string& overflow, bool flush) {
  Attributes a;
  a.format = format_of(format);
  a.rounding = rounding_of(mode, overflow, flush);
  return apply("round", {std::move(x)}, std::move(a));
}

PiecePtr reduce_piece(const std::string& op, PiecePtr x, std::vector<std::int64_t> axes, bool keepdims) {
  Attributes a;
  a.axes = std::move(axes);
  a.keepdims = keepdims;
  return apply(op, {std::move(x)}, std::move(a));
}

PiecePtr any_of_piece(std::vector<PiecePtr> alternatives, std::string label) {
  Attributes a;
  a.text = std::move(label);
  return apply("any_of", std::move(alternatives), std::move(a));
}

PiecePtr literal_piece(std::string text) {
  Attributes a;
  a.text = std::move(text);
  return apply("literal", {}, std::move(a));
}

py::object type_name(const std::optional<Type>& type) {
  if (!type) return py::none();
  return py::str(to_string(*type));
}

/// A spec and the file that it is in.
struct PythonSpec {
  std::shared_ptr<const Program> program;
  std::size_t index;
  std::shared_ptr<PreparedCalls> calls = std::make_shared<PreparedCalls>();
  const Spec& operator*() const { return program->specs.at(index); }
  const Spec* operator->() const { return &program->specs.at(index); }
};

struct Bound {
  Binding binding;
  PiecePtr piece;                // an earlier result
  std::optional<Tensor> tensor;  // or data
};

Bound bound_of(const Spec& spec, const std::string& name, py::handle argument) {
  if (!py::isinstance<Tensor>(argument)) {
    auto piece = argument.cast<PiecePtr>();
    return {{piece->node.type, extents_of(piece->node.shape)}, piece, {}};
  }
  auto tensor = argument.cast<Tensor>();
  if (const auto declared = declared_type(spec, name)) {
    require_representable(tensor, *declared, name);
    tensor = as_declared(std::move(tensor), *declared);
  }
  return {binding_of(tensor), nullptr, tensor};
}

Tensor tensor_for(const Node& node, const Bound& bound) {
  // A generic parameter gets its type from the spec only now.
  require_representable(*bound.tensor, node.type, node.attributes.text);
  return as_declared(*bound.tensor, node.type);
}

PiecePtr piece_for(const Node& node, const Bound& bound, const std::shared_ptr<const int>& call) {
  const std::string& name = node.attributes.text;
  if (bound.piece) {
    if (!(node.type.is_real() || contains(node.type, bound.piece->node.type))) {
      throw Error("input `" + name + "` is declared " + to_string(node.type) + ", but the result bound to it is of type " +
                  to_string(bound.piece->node.type));
    }
    return opaque(bound.piece);
  }
  return input(name, tensor_for(node, bound), node.scalar_parameter, call);
}

std::shared_ptr<Group> call(const PythonSpec& spec, const py::dict& arguments) {
  std::map<std::string, Bound> bound;
  std::map<std::string, Binding> bindings;
  for (const auto& [name, argument] : arguments) {
    const auto key = py::cast<std::string>(name);
    bindings.emplace(key, (bound[key] = bound_of(*spec, key, argument)).binding);
  }
  const auto prepared = spec.calls->of(*spec, std::move(bindings));
  const auto& graph = prepared->graph;
  if (prepared->composed && std::all_of(bound.begin(), bound.end(), [](const auto& b) { return b.second.tensor.has_value(); })) {
    std::vector<Tensor> tensors;
    for (const NodeId id : graph->inputs) tensors.push_back(tensor_for((*graph)[id], bound.at((*graph)[id].attributes.text)));
    return std::make_shared<Group>(prepared, std::move(tensors));
  }
  const auto token = std::make_shared<const int>();
  std::vector<PiecePtr> inputs;
  for (const NodeId id : graph->inputs) {
    const Node& node = (*graph)[id];
    inputs.push_back(piece_for(node, bound.at(node.attributes.text), token));
  }
  return std::make_shared<Group>(pieces_of(*graph, inputs), graph->name);
}

CheckOptions options_of(const std::optional<Tensor>& where, bool signed_zero, std::size_t show) {
  CheckOptions options;
  options.where = where;
  options.signed_zero = signed_zero;
  options.show = show;
  return options;
}

std::optional<Format> compute_format(const std::optional<std::string>& name) {
  if (!name) return {};
  return format_of(*name);
}

py::array outside(const ResultReport& r) {
  const std::size_t rank = r.extents.size();
  py::array_t<std::int64_t> indices({r.outside.size(), rank});
  auto out = indices.mutable_unchecked<2>();
  for (std::size_t i = 0; i < r.outside.size(); ++i) {
    std::int64_t flat = r.outside[i];
    for (std::size_t k = rank; k-- > 0; flat /= r.extents[k]) out(i, k) = flat % r.extents[k];
  }
  return indices;
}

py::dict picture(const ResultReport& r, std::int64_t panels, std::int64_t rows, std::int64_t columns) {
  const Picture p = picture_of(r, {panels, rows, columns});
  py::list list;
  for (const Panel& panel : p.panels) {
    py::array_t<float> cells({p.cell_rows, p.cell_columns});
    std::copy(panel.cells.begin(), panel.cells.end(), cells.mutable_data());
    list.append(py::make_tuple(panel.title, cells));
  }
  const py::array_t<double> by_column(static_cast<py::ssize_t>(p.by_column.size()), p.by_column.data());
  return py::dict(py::arg("panels") = list, py::arg("by_column") = by_column, py::arg("rows") = p.rows, py::arg("columns") = p.columns,
                  py::arg("row_bin") = p.row_bin, py::arg("column_bin") = p.column_bin, py::arg("smallest") = p.smallest, py::arg("largest") = p.largest,
                  py::arg("special") = p.has_special);
}

py::list findings(const ResultReport& r) {
  py::list list;
  for (const Finding& f : r.findings)
    if (!f.text.empty()) list.append(py::make_tuple(f.kind, f.text));
  return list;
}

/// The calling thread may flush subnormals (torch.set_flush_denormal): not while it is here.
const py::call_guard<FloatGuard> exact_arithmetic;

void define_tensors(py::module_& m) {
  py::class_<Tensor>(m, "Tensor")
      .def_property_readonly("type", [](const Tensor& t) { return to_string(t.type); })
      .def_property_readonly("shape", [](const Tensor& t) { return shape_tuple(t.extents); });
  m.def("tensor", [](const py::array& array, const std::string& type, bool borrowed) { return borrowed ? borrowed_tensor(array, type_of(type)) : tensor_of(array, type_of(type)); },
        py::arg("array"), py::arg("type"), py::arg("borrowed") = false, exact_arithmetic);
  m.def("tensor_at", [](std::uintptr_t address, Extents shape, const std::string& type) { return tensor_at(address, std::move(shape), type_of(type)); }, exact_arithmetic);
  m.def("scalar", &Tensor::scalar, exact_arithmetic);
  m.def("integer", &Tensor::integer, exact_arithmetic);
  m.def("boolean", &Tensor::boolean, exact_arithmetic);
  m.def("rational", &Tensor::rational, exact_arithmetic);
  m.def("from_dlpack", &from_dlpack, exact_arithmetic);
  m.def("stored", [](const Tensor& t, const std::string& name) {
    const Type type = type_of(name);
    return stored(type.is_complex && !t.is_complex() ? Tensor::complex(t, t.imag_part()) : t, type.format, {});
  }, exact_arithmetic);
  m.def("as_complex", [](const Tensor& t) { return t.is_complex() ? t : Tensor::complex(t, t.imag_part()); }, exact_arithmetic);
  m.def("complex", &Tensor::complex, exact_arithmetic);
  m.def("as_real", [](const Tensor& t) { return as_declared(t, t.is_complex() ? Type::complex(Type::real()) : Type::real()); }, exact_arithmetic);
  m.def("nearest", [](const Tensor& t) {
    const auto value = [](const Tensor& x) { return x.storage == Storage::rational ? close_double(x.text).value : x.at(0); };
    return t.is_complex() ? py::cast(std::complex<double>(value(t), value(*t.imag))) : py::cast(value(t));
  }, exact_arithmetic);
  m.def("fits", [](const Tensor& t, const std::string& type) { return !misfit(t, type_of(type)); }, exact_arithmetic);
  m.def("checked", [](const Tensor& t, const std::string& type) {
    require_representable(t, type_of(type), "data");
    return as_declared(t, type_of(type));
  }, exact_arithmetic);
}

void define_pieces(py::module_& m) {
  py::class_<Piece, std::shared_ptr<Piece>>(m, "Piece")
      .def_property_readonly("type", [](const Piece& p) { return to_string(p.node.type); })
      .def_property_readonly("shape", [](const Piece& p) { return shape_tuple(extents_of(p.node.shape)); })
      .def_property_readonly("tensor", [](const Piece& p) { return p.tensor; })
      .def_property_readonly("age", [](const Piece& p) { return p.age; });
  const auto mutable_piece = [](PiecePtr p) { return std::const_pointer_cast<Piece>(std::move(p)); };
  using Mutable = std::shared_ptr<Piece>;
  m.def("input", [=](const std::string& name, const Tensor& t, bool scales) { return mutable_piece(input(name, t, scales)); }, exact_arithmetic);
  m.def("literal", [=](const std::string& text) { return mutable_piece(literal_piece(text)); }, exact_arithmetic);
  m.def("apply", [=](const std::string& op, const std::vector<Mutable>& operands) {
    return mutable_piece(apply(op, {operands.begin(), operands.end()}));
  }, exact_arithmetic);
  m.def("within", [=](const Mutable& p, const std::string& format, bool innocuous) {
    return mutable_piece(apply_within(p, format_of(format), innocuous));
  }, exact_arithmetic);
  m.def("opaque", [=](const Mutable& p) { return mutable_piece(opaque(p)); }, exact_arithmetic);
  m.def("round", [=](const Mutable& p, const std::string& format, const std::string& mode, const std::string& overflow, bool flush) {
    return mutable_piece(round_piece(p, format, mode, overflow, flush));
  }, exact_arithmetic);
  m.def("reduce", [=](const std::string& op, const Mutable& p, const std::vector<std::int64_t>& axes, bool keepdims) {
    return mutable_piece(reduce_piece(op, p, axes, keepdims));
  }, exact_arithmetic);
  m.def("any_of", [=](const std::vector<Mutable>& alternatives, const std::string& label) {
    return mutable_piece(any_of_piece({alternatives.begin(), alternatives.end()}, label));
  }, exact_arithmetic);
  m.def("reshape", [=](const Mutable& p, const Extents& shape) {
    Attributes a;
    a.shape = shape_of(shape);
    return mutable_piece(apply("reshape", {p}, std::move(a)));
  }, exact_arithmetic);
  m.def("broadcast", [=](const Mutable& p, const Extents& shape) {
    Attributes a;
    a.shape = shape_of(shape);
    return mutable_piece(apply("broadcast", {p}, std::move(a)));
  }, exact_arithmetic);
  m.def("transpose", [=](const Mutable& p, const std::vector<std::int64_t>& axes) {
    Attributes a;
    a.axes = axes;
    return mutable_piece(apply("transpose", {p}, std::move(a)));
  }, exact_arithmetic);
  m.def("index", [=](const Mutable& p, const std::vector<PythonSlice>& slices, const std::vector<std::tuple<int, std::string, std::int64_t>>& moving) {
    Attributes a;
    a.slices = slices_of(slices);
    for (const auto& [slice, variable, stride] : moving) a.moving.push_back({slice, variable, stride});
    return mutable_piece(apply("index", {p}, std::move(a)));
  }, exact_arithmetic, py::arg("piece"), py::arg("slices"), py::arg("moving") = std::vector<std::tuple<int, std::string, std::int64_t>>{});
}

void define_loops(py::module_& m) {
  using Mutable = std::shared_ptr<Piece>;
  const auto pieces = [](const std::vector<Mutable>& list) { return std::vector<PiecePtr>(list.begin(), list.end()); };
  m.def("depends_on_types", [=](const std::vector<Mutable>& all) { return depends_on_types(pieces(all)); });
  m.def("state", [](const std::string& name, const Mutable& start) { return std::const_pointer_cast<Piece>(state_piece(name, start)); }, exact_arithmetic);
  m.def("loop_number", [](const std::string& variable) {
    Attributes a;
    a.text = "0";
    a.moving = {{-1, variable, 1}};
    return std::const_pointer_cast<Piece>(apply("literal", {}, std::move(a)));
  }, exact_arithmetic);
  m.def("is_word", [](const std::string& name) { return is_reserved(name) || name == "nan" || name == "inf" || name == "pi" || name == "true" || name == "false" || name == "None"; });
  m.def("fold", [=](const std::vector<Mutable>& starts, const std::vector<Mutable>& states, const std::vector<Mutable>& next, const std::string& variable,
                    const std::string& name, std::int64_t first, std::int64_t count, std::int64_t tile, std::int64_t rest) {
    std::vector<Mutable> after;
    for (const PiecePtr& p : fold(pieces(starts), pieces(states), pieces(next), {variable, name, first, count, tile, rest}))
      after.push_back(std::const_pointer_cast<Piece>(p));
    return after;
  }, exact_arithmetic);
}

void define_specs(py::module_& m) {
  py::class_<PythonSpec>(m, "Spec")
      .def_property_readonly("name", [](const PythonSpec& s) { return s->name; })
      .def_property_readonly("parameters", [](const PythonSpec& s) {
        py::list list;
        for (const Parameter& p : s->parameters) list.append(py::make_tuple(p.name, type_name(p.type), p.has_default));
        return list;
      })
      .def_property_readonly("text", [](const PythonSpec& s) { return s->canonical_text(); })
      .def("call", &call, exact_arithmetic);
  const auto specs = [](const std::shared_ptr<const Program>& program) {
    std::vector<PythonSpec> list;
    for (std::size_t i = 0; i < program->specs.size(); ++i) list.push_back({program, i});
    return list;
  };
  m.def("parse", [=](const std::string& text, const std::string& name) { return specs(parse(text, name)); }, exact_arithmetic);
  m.def("load", [=](const std::string& path) { return specs(load(path)); }, exact_arithmetic);
}

void define_groups(py::module_& m) {
  py::class_<Group, std::shared_ptr<Group>>(m, "Group")
      .def(py::init([](const std::vector<std::shared_ptr<Piece>>& pieces, bool declared) {
        std::vector<PieceResult> results;
        for (const auto& p : pieces) results.push_back({"", p, declared ? std::optional(p->node.type) : std::nullopt});
        return std::make_shared<Group>(std::move(results), "");
      }), exact_arithmetic)
      .def_property_readonly("names", [](const Group& g) {
        py::list names;
        for (std::size_t i = 0; i < g.size(); ++i) names.append(g.name(i));
        return names;
      })
      .def("__len__", &Group::size)
      .def("type", [](const Group& g, std::size_t i) { return to_string(g.node(i).type); })
      .def("shape", [](const Group& g, std::size_t i) { return shape_tuple(extents_of(g.node(i).shape)); })
      .def("declared", &Group::is_declared)
      .def("part", [](const Group& g, std::size_t i) {
        return std::make_shared<Group>(std::vector<PieceResult>{g.results().at(i)}, "");
      })
      .def("piece", [](const Group& g, std::size_t i) { return std::const_pointer_cast<Piece>(g.results().at(i).piece); })
      .def_property_readonly("text", &Group::text)
      .def("evaluated_by", [](const Group& g, const std::string& lowest, const std::string& highest, std::int64_t tile, int threads) {
        using Tier = EvaluateOptions::Tier;
        const auto tier = [](const std::string& t) {
          if (t != "f64" && t != "big" && t != "exact") throw py::value_error("tiers are f64, big and exact");
          return t == "f64" ? Tier::f64 : t == "big" ? Tier::big : Tier::exact;
        };
        return g.evaluated_by({.threads = threads, .lowest = tier(lowest), .highest = tier(highest), .tile = tile});
      }, py::kw_only(), py::arg("lowest") = "f64", py::arg("highest") = "exact", py::arg("tile") = 0, py::arg("threads") = 0)
      .def("check", [](Group& g, std::vector<Tensor> outputs, const std::optional<Tensor>& where, bool signed_zero, std::size_t show,
                       const std::optional<std::string>& compute) {
        return g.check(std::move(outputs), options_of(where, signed_zero, show), compute_format(compute));
      }, exact_arithmetic)
      .def("covers", [](Group& g, std::size_t i, const Tensor& output, const std::optional<Tensor>& where, bool signed_zero,
                        const std::optional<std::string>& compute) {
        return g.covers(i, output, options_of(where, signed_zero, 0), compute_format(compute));
      }, exact_arithmetic)
      .def("hull", &Group::hull, exact_arithmetic);

  py::class_<ResultReport>(m, "ResultReport")
      .def_readonly("name", &ResultReport::name)
      .def_readonly("checked", &ResultReport::checked)
      .def_readonly("violations", &ResultReport::violations)
      .def_readonly("max_ulps", &ResultReport::max_ulps)
      .def_readonly("tightness", &ResultReport::tightness)
      .def_property_readonly("shape", [](const ResultReport& r) { return shape_tuple(r.extents); })
      .def_property_readonly("findings", &findings)
      .def_property_readonly("distances", [](const ResultReport& r) { return py::array_t<float>(static_cast<py::ssize_t>(r.distances.size()), r.distances.data()); })
      .def("picture", &picture)
      .def_property_readonly("indices", &outside);
  py::class_<Report>(m, "Report")
      .def_readonly("applicable", &Report::applicable)
      .def_readonly("results", &Report::results)
      .def_readonly("seconds", &Report::seconds)
      .def_property_readonly("ok", &Report::ok)
      .def_property_readonly("violations", &Report::violations)
      .def_property_readonly("text", &Report::text)
      .def("to_json", [](const Report& r) { return to_json(r); });
}

}  // namespace
}  // namespace erx

PYBIND11_MODULE(_erx, m) {
  m.doc() = "the evaluator under the package erx";
  py::register_exception<erx::Error>(m, "SpecError", PyExc_ValueError);
  erx::define_tensors(m);
  erx::define_pieces(m);
  erx::define_loops(m);
  erx::define_specs(m);
  erx::define_groups(m);
  m.def("did_you_mean", [](const std::string& word, const std::vector<std::string>& known) { return erx::did_you_mean(word, known); });
  m.def("type_of", [](const std::string& name) { return erx::to_string(erx::type_of(name)); }, erx::exact_arithmetic);
  m.def("type_contains", [](const std::string& outer, const std::string& inner) {
    return erx::contains(erx::type_of(outer), erx::type_of(inner));
  }, erx::exact_arithmetic);
  m.def("format_aliases", [](const std::string& name) { return erx::format_aliases(erx::format_of(name)); }, erx::exact_arithmetic);
  m.def("code_bytes", [](const std::string& format) { return erx::code_bytes(erx::format_of(format)); }, erx::exact_arithmetic);
  m.def("min_positive", [](const std::string& format) { return erx::format_of(format).min_positive(); }, erx::exact_arithmetic);
  m.def("precision", [](const std::string& format) { return erx::format_of(format).precision(); }, erx::exact_arithmetic);
}
