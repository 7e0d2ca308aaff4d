// A parsed `.erx` file: its specs, ready to be called with inputs, and its examples.
// Parsing reports all errors of a file at once. A spec is lowered once with names for dimensions, to check it, and again for
// each call, with numbers.
//   auto p = parse("round<bf16>(alpha*A) @ B + C");   auto g = p->spec().lower({{"A", {type, extents}}, ...});
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/error.hpp"
#include "ir/graph.hpp"

namespace erx {

struct Ast;  // grammar/ast.hpp
struct Syntax;

/// What is bound to an input: its type and extents, and the value of a 0-d number (for shapes and loop bounds).
struct Binding {
  Type type;
  Extents extents;
  std::optional<double> value = {};
};

struct Parameter {
  std::string name;
  std::optional<Type> type;  // none: typed by what is bound (a bare expression)
  std::optional<Shape> shape;  // none: any (a bare expression)
  bool has_default = false;
  Span span;
};

struct Declared {
  std::string name;  // "" for the only result
  std::optional<Type> type;
  std::optional<Shape> shape;
  Span span;
};

/// Numbers drawn for an example, the same on every machine (bindings/draw.hpp says how).
struct Generator {
  enum class Kind { normal, uniform, integers } kind = Kind::normal;
  std::uint64_t seed = 0;
  double first = 0, second = 1;  // mean and standard deviation; the least number and the end (of integers: the first that is too large)
};

/// A nested list of exact numbers as written: "0.3", "-1", "3/10", "nan", "inf", "true".
struct LiteralTensor {
  Extents extents;
  std::vector<std::string> elements;
  Span span;
  std::vector<std::string> imaginary = {};  // where some are complex(1, 2): of all
  std::optional<Generator> drawn = {};      // instead of elements
  std::optional<Format> format = {};        // of `bf16([0.1, 2])`: the elements are rounded into it, and this is their type
};

struct ExampleLine {
  enum class Kind { input, covers, rejects, mutant } kind;
  std::string name;  // of the input; of the result where there are several; of the mutant
  LiteralTensor value;
  Span span;
  const Syntax* expression = nullptr;  // instead of numbers: what a kernel computes that returns this instead
};

struct Example {
  std::string text;
  std::string spec;  // "" where the file has one
  std::vector<ExampleLine> lines;
  Span span;
};

class Spec {
 public:
  std::string name;  // "" for a bare expression
  Span span;
  std::vector<Parameter> parameters;
  std::vector<Declared> results;

  /// The graph for these inputs. Unbound parameters take their defaults and are no inputs of the graph.
  /// errors: Error for a missing or extra input (with "did you mean"), a type that does not fit, shapes that do not unify.
  std::shared_ptr<const Graph> lower(const std::map<std::string, Binding>& inputs) const;

  /// The graph that returns this expression instead of the body's, written with the names of the body; of one result where `result` names it.
  std::shared_ptr<const Graph> lower_variant(const Syntax& expression, const std::string& result, const std::map<std::string, Binding>& inputs) const;

  /// The graph with names for dimensions, as it was checked; nullptr where that takes the types of a call (a bare expression, a generic spec).
  std::shared_ptr<const Graph> checked_graph() const;

  /// The graph with named dimensions (`erx graph`); for a bare expression the inputs are untyped and shapes unknown, so only text is kept.
  std::string canonical_text() const;

  std::shared_ptr<const Ast> ast;
  std::size_t item = 0;  // of the file
};

class Program {
 public:
  std::shared_ptr<const Source> source;
  std::vector<Spec> specs;
  std::vector<Example> examples;
  std::vector<Diagnostic> warnings;

  /// By name; "" is the only one. errors: Error naming the specs there are.
  const Spec& spec(std::string_view name = "") const;
};

/// errors: Error with every diagnostic of the file.
std::shared_ptr<const Program> parse(std::shared_ptr<const Source> source);
std::shared_ptr<const Program> parse(std::string text, std::string name = "<string>");
/// errors: Error for a missing, unreadable or too large file.
std::shared_ptr<const Program> load(const std::string& path);

/// Canonical layout of a file: idempotent, comments kept.
std::string format_source(const Source&);

}  // namespace erx
