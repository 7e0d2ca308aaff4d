// From syntax to a graph: names, types, shapes, and the constructs that say how operations are done.
// One object lowers one spec once, with names for dimensions (to check it) or with the numbers of a call. It reports every mistake
// and goes on. The graph that results holds only exact operations and explicit nodes that round or have a choice.
//   Lowering lowering(items, errors, warnings);  lowering.spec(syntax, &bindings);
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "grammar/ast.hpp"
#include "grammar/items.hpp"
#include "grammar/program.hpp"
#include "grammar/value.hpp"
#include "ops/op.hpp"

namespace erx {

using Bindings = std::map<std::string, Binding>;

/// Operations of one spec, everything written out; and of all steps of its loops, each looked at by itself.
constexpr std::size_t max_nodes = 4000000;

/// Does a shape have `...` in it?
bool has_rest(const Syntax& dims);

class Lowering {
 public:
  Lowering(const Items& items, std::vector<Diagnostic>& errors, std::vector<Diagnostic>& warnings)
      : items_(&items), errors_(errors), warnings_(warnings) {}

  /// The functions whose arguments are shapes, axes or names, with the method that reads their call.
  using Special = Value (Lowering::*)(const Syntax&, const Manner&);
  static const std::map<std::string, Special>& specials();

  /// `bindings`: the inputs of a call; nullptr checks the item with names for dimensions.
  void spec(const Syntax& item, const Bindings* bindings);
  void bare(const Syntax& item, const Bindings* bindings);
  void check(const Syntax& item);  // a fn or a format that nothing may use

  Graph graph;
  std::vector<Parameter> parameters;  // of the signature; of a bare expression its free names
  std::vector<Declared> results;
  bool is_generic = false;     // its formats or the number of its dimensions come with the call
  bool keep_defaults = false;  // with names for dimensions: unbound `real` parameters take their defaults, for printing
  bool is_complete = true;     // every node is known: the graph says all

 private:
  // lower.cpp: expressions
  Value expression(const Syntax&, const Manner&);
  bool is_too_long(const Syntax&);
  Value number(const Syntax&);
  Value name(const Syntax&, const Manner&);
  Value chain(const Syntax&, const Manner&);
  Value step(Value left, const Syntax& step, Value right, const Syntax& whole, const Manner&);
  Value prefix(const Syntax&, const Manner&);
  Value power(const Syntax&, const Manner&);
  Value tuple(const Syntax&, const Manner&);
  Value literal(std::string text, Span at);
  Value truth(bool, Span at);
  Value of_dim(const Dim&, Span at);

  // apply.cpp: one operation, as the mode says
  Value apply(const Op&, std::vector<Value>, Attributes, const Span& at, const Manner&);
  std::optional<NodeId> build(const Op&, const std::vector<NodeId>&, Attributes, const std::vector<Span>& spans, const Span& at);
  std::optional<NodeId> exactly(const Op&, const std::vector<Value>&, Attributes, const Span& at);
  std::optional<NodeId> rounded(std::optional<NodeId>, const Manner&, const Span& at);
  std::optional<NodeId> widened(std::optional<NodeId>, const Manner&, double ulp, const Span& at);
  Value one_operation(Value exact, const Manner&);  // a composite (mean, a fn) rounds once in an `in`
  void broken(const RuleBroken&, const std::vector<NodeId>&, const std::vector<Span>& spans, const Span& at);
  bool refuse_wide(const Value&, const Manner&);
  std::optional<Format> held_in(const Value&, const Format&) const;
  NodeId read(NodeId, const Manner&, Flush, const Span&);
  void may_read_zero(Value&, const Manner&);
  void note_dims(Diagnostic&, const std::vector<NodeId>&) const;

  // complex.cpp
  Value complex(const Syntax&, const Manner&);
  bool is_complex(const Value& v) const { return v.node && graph[*v.node].type.is_complex; }
  bool refuse_complex(const Op&, const std::vector<Value>&, const Span& at, const Manner&);
  Value as_declared(Value, const Type& declared);  // a real number where a complex one is declared
  const Syntax* format_word(const Syntax& what) const;  // F of `F` or of `complex<F>`

  // call.cpp: functions
  Value call(const Syntax&, const Manner&);
  Value operation(const Op&, const Syntax&, const Manner&);
  Value exact(const Syntax&, const Manner&);
  Value length(const Syntax&, const Manner&);
  Value default_of(const Items::Item& fn, const Syntax& parameter);
  Value user_function(const Items::Item& fn, const Syntax& call, const Manner&);
  Value standard_function(const Items::Item&, const Syntax&, const Manner&);
  struct Arguments {
    std::vector<const Syntax*> positional;
    std::map<std::string, const Syntax*> named;
    bool ok = true;
  };
  /// Sorts the arguments of a call; `keywords` are those it knows, positional arguments from `max` on are too many.
  Arguments arguments(const Syntax& call, const std::vector<std::string>& keywords, std::size_t min, std::size_t max);
  std::vector<std::string> function_names() const;

  // reductions.cpp
  struct Reduced {
    Value x;
    std::optional<Value> mask;  // x where mask
    Attributes attributes;
    std::vector<Value> operands() const;
  };
  /// What a reduction is written over; `opens`: as a part of a sum. Empty: a mistake, or known only with the call.
  std::optional<Reduced> reduced(const Syntax& call, const Op* row, const Manner&, bool opens);
  Value reduction(const Op&, const Syntax&, const Manner&, bool opens);
  Value mean(const Syntax&, const Manner&);
  bool axes_of(const Arguments&, const Syntax& call, std::size_t rank, Attributes&);
  std::optional<std::int64_t> axis_of(const Syntax&, const Syntax& call, std::size_t rank);
  Value one_line(Value);  // its elements along one axis, in C order
  void refuse_free_mask(const Op* row, const Syntax& masked, bool of_bools);

  // einsum.cpp
  Value dot(const Syntax&, const Manner&);
  Value einsum(const Syntax&, const Manner&);
  Value einsum_sum(const Syntax& call, const Manner&);
  bool take_diagonals(Value&, std::vector<int>& labels);
  Value aligned(Value, const std::vector<int>& labels, const std::vector<int>& all, const Span& at);
  void refuse_three_factors(const Syntax& call);
  Value contraction(const Syntax& call, const Manner&);  // exactly: a call of matmul, dot or einsum as a part of a sum

  // vjp.cpp
  Value vjp(const Syntax&, const Manner&);

  // arrange.cpp
  Value concat(const Syntax&, const Manner&);
  Value stack(const Syntax&, const Manner&);
  Value joined(std::vector<Value>, std::int64_t axis, const Span& at);
  std::optional<std::vector<Value>> listed(const Arguments&, const Manner&);
  Value flip(const Syntax&, const Manner&);
  Value repeat(const Syntax&, const Manner&);
  Value iota(const Syntax&, const Manner&);
  Value counted(const Dim& length, const Span& at);
  Value eye(const Syntax&, const Manner&);
  Value diagonal(const Syntax&, const Manner&);

  // layout.cpp
  Value reshape(const Syntax&, const Manner&);
  Value transpose(const Syntax&, const Manner&);
  Value broadcast(const Syntax&, const Manner&);
  Value zeros(const Syntax&, const Manner&);
  Value ones(const Syntax&, const Manner&);
  Value full(const Syntax&, const Manner&);
  Value filled(Value, const Syntax& shape, const Span& at);
  Value postfix(const Syntax&, const Manner&);
  Value index(Value operand, const Syntax& index);
  Value member(Value operand, const Syntax& member);
  std::optional<Slice> slice(const Syntax&, const Dim& extent, std::size_t axis);
  Value view(const Op&, Value operand, Attributes, const Span& at);
  std::optional<Shape> shape(const std::vector<const Syntax*>&, bool* infer = nullptr);

  // rounding.cpp: heads and blocks
  Value head(const Syntax&, const Manner&);
  Value round(const Syntax&, const Manner&);
  Value round_to(const Attributes&, const Syntax& operand, const Span& at, const Manner&);
  void warn_of_idle(const Attributes& rounding, NodeId operand, const Syntax& written, const Span& at);
  void warn(Diagnostic);  // once at each place
  Value any_of(const Syntax&, const Manner&);
  Value within(const Syntax&, const Manner&);
  Value in_block(const Syntax&, const Manner&);
  Value block(const Syntax&, const Manner&);
  bool statement(const Syntax&, const Manner&, Value* given);
  void assume(const Syntax&, const Value&);
  void bind(const std::string& name, Value, const Span& declared);
  void bind_unread(const Span& let);

  // approximate.cpp
  Value approx(const Syntax&, const Manner&);
  Value cast(const Syntax&, const Manner&);
  double positive(const Syntax&);
  bool bounds(const Syntax& list, Attributes&, std::vector<Value>& operands, Syntax& words);

  // loops.cpp: bodies instantiated anew for each number; fold.cpp: steps of one form as one node
  Value choose(const Syntax&, const Manner&);
  Value fold(const Syntax&, const Manner&);
  class Fold;
  Value instance(const Syntax& block, const std::map<std::string, Value>& names, const std::map<std::string, Span>& declared,
                 const Manner&);
  struct Steps {
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // of tiles: start and stop; of a range: the number, twice
    bool are_tiles = false;
  };
  std::optional<Steps> steps(const Syntax& range);

  // sums.cpp: acc and within
  Value acc(const Syntax&, const Manner&);
  Value sum(const Syntax&, const Manner&);  // the sum written in `e`, exactly; its leaves as the mode says
  bool is_sum(const Syntax&) const;
  Value within_sum(const Syntax&, const Manner&);
  bool check_leaves(NodeId sum, const Format&, const Syntax& whole);
  std::optional<NodeId> literal_leaf(NodeId) const;
  bool is_written_in(NodeId, const Format&) const;

  // recurrence.cpp
  Value recurrence(const Syntax&, const Manner&);
  bool recurrence_rule(const Syntax& targs, Attributes&);
  bool check_state(const Value&, const char* what, const Format&);

  // template.cpp: what stands between < and >
  std::optional<Format> format(const Syntax&);
  std::optional<Format> format_of_head(const Syntax& head);
  std::optional<Format> float_format(const Syntax& head);
  bool rounding(const Syntax& targs, std::size_t from, Attributes&);
  bool accumulation(const Syntax& targs, Attributes&);
  bool order(const Syntax&, Order&);
  template <class Enum>
  bool choose(const Syntax& value, const std::vector<std::pair<std::string, Enum>>& among, Enum& chosen);
  bool contraction_word(const Syntax& value, Contraction&);
  bool flush(const Syntax& value, Flush&);

  // dimension.cpp: whole numbers and formulas of dimensions
  std::optional<Dim> dimension(const Syntax&);
  std::optional<Dim> divided(const Syntax& chain, const Dim& left, const std::string& sign, const Dim& right);
  std::optional<Dim> size_of(const Syntax& name);
  std::optional<std::int64_t> integer(const Syntax&, const char* what);

  // signature.cpp, unify.cpp, results.cpp
  std::optional<Type> type(const Syntax&, bool* generic = nullptr);
  void declare_dims(const Syntax& dims);
  std::optional<Shape> declared_shape(const Syntax& dims);
  void generics(const Syntax&);
  void inputs(const Syntax& parameters, const Bindings*);
  void input(const Syntax& parameter, const Binding*);
  void default_input(const Syntax& parameter);
  void unify(const Syntax& parameter, const Binding&);
  bool unify_dim(const Syntax& dim, std::int64_t extent, const Syntax& parameter);
  bool accepts(const Type& declared, const Binding&, const Syntax& parameter);
  void check_names(const Bindings&, const Span& at);
  void give(const Syntax& results, const Value&);
  void give_one(const Declared&, const Value&);

  void error(Diagnostic d);
  void place(const Error&, const Span& at);  // reports mistakes that came without a place
  const Ast& ast() const { return *items_->ast; }
  Span span(const Syntax& s) const { return ast().span(s); }
  std::string unique(const std::string& name);

  struct Name {
    Value value;
    Span declared;
  };
  const Name* find(const std::string& name) const;
  std::vector<std::string> names() const;

  struct Size {
    std::int64_t value = 0;
    std::string from;  // the parameter that fixed it
    Span at;           // the dimension in that parameter's type
  };

  const Items* items_;  // of the file that is read: changes while a function of an imported file is written out
  std::vector<Diagnostic>& errors_;
  std::vector<Diagnostic>& warnings_;
  std::vector<std::map<std::string, Name>> scopes_ = {{}};
  std::map<std::string, Span> dims_;                      // declared dimensions
  std::map<std::string, Size> sizes_;                     // with the numbers of the call
  std::map<std::string, Shape> rests_;                    // what ...S stands for
  std::map<std::string, std::optional<Format>> formats_;  // generic formats
  std::map<std::string, std::string> format_from_;        // the parameter that fixed it
  std::map<NodeId, Span> used_;                           // the last place that names a node
  std::set<std::string> taken_;                           // names of nodes
  std::vector<std::string> given_;                        // the same in order, as far as they were made up here
  std::vector<std::string> calls_;                        // functions being inlined
  const Syntax* acc_ = nullptr;                           // the `acc` whose sum is read
  int written_out_ = 0;                                   // calls of functions
  std::size_t looked_at_ = 0;                             // operations of steps of loops
  bool concrete_ = false;
  bool bare_ = false;
  const Bindings* bindings_ = nullptr;
};

}  // namespace erx
