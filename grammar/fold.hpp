// `fold` as it is lowered: the steps, each lowered for itself and compared with the first.
//   Fold(lowering, syntax, manner).run()
#pragma once
#include "grammar/course.hpp"
#include "grammar/lower.hpp"
#include "ir/loop.hpp"

namespace erx {

class Lowering::Fold {
 public:
  Fold(Lowering& lowering, const Syntax& syntax, const Manner& mode) : l_(lowering), s_(syntax), mode_(mode) {}

  Value run();

 private:
  /// What a state is before a step: the type and shape of an input, or a copy of a literal.
  struct Kind {
    Type type;
    Shape shape;
    bool scalar_parameter = false, freedom = false;
    std::optional<NodeId> literal = {};
    bool operator==(const Kind& o) const { return type == o.type && shape == o.shape; }
  };
  /// One step as a graph of its own.
  struct Step {
    Graph body;
    std::vector<NodeId> outside;  // what it reads, by the inputs behind the states
    std::vector<Movable> numbers;
  };
  /// Steps that are one node, and how their numbers follow the variable; period: of those that go in turns.
  struct Way {
    std::size_t count = 0;
    std::int64_t period = 1;
    std::vector<Course> courses = {};
  };
  struct Mark {
    std::size_t nodes, names, errors, warnings, assumptions;
    int written_out;
    bool is_complete;
  };

  Lowering& l_;
  const Syntax& s_;
  const Manner& mode_;
  std::map<std::string, Span> declared_;
  std::vector<std::string> order_;
  std::vector<Value> states_;
  Steps steps_;
  bool has_looked_for_turns_ = false;

  std::string variable() const { return s_[1].text; }
  bool declare();
  void enter(std::size_t k, Value);
  std::optional<std::vector<Value>> next(const std::vector<Value>& states, const Value& loop);
  Value at_step(std::size_t k) const;
  std::int64_t number_of(std::size_t k) const { return steps_.are_tiles ? static_cast<std::int64_t>(k) : steps_.parts[k].first; }

  Mark mark() const;
  void back_to(const Mark&, bool keeps_messages);
  std::optional<Step> alone(const std::vector<Kind>&, std::size_t k);
  Step taken_off(std::size_t from, const std::vector<NodeId>& states, const std::vector<NodeId>& next) const;
  std::vector<Kind> kinds_after(const Step&, const std::vector<Kind>& before) const;
  bool is_written(NodeId) const;
  bool is_written_in(NodeId, const Type&) const;
  bool fits(NodeId start, const Kind&) const;
  std::size_t as_one_node(std::size_t k);
  Way way_of(const Step& first, std::size_t k, const std::vector<Kind>&);
  static Graph around(Loop inner, const Span&);
  void append(const Step&, std::size_t k, const Way&, const std::vector<Kind>&);
};

}  // namespace erx
