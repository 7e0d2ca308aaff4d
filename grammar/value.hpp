// What an expression means while it is lowered: a node, several (a tuple), or nothing known (its mistake is reported, or its type
// comes only with the call), which silences whatever would follow from it.
//   Value v = lowering.expression(syntax, mode);  if (v.node) ...
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/error.hpp"
#include "ir/graph.hpp"

namespace erx {

struct Value {
  std::optional<NodeId> node;
  std::vector<Value> parts;  // of a tuple
  bool is_tuple = false;
  std::optional<NodeId> product;                              // the same value as an exact product, which a fused addition may take instead
  std::optional<Dim> dim;                                     // its value, where it is a whole number known to the shapes
  std::optional<std::pair<std::int64_t, std::int64_t>> tile;  // start and stop: a part of an axis, used as an index
  Span wide;                                                  // a name here holds values that the format of the enclosing `in` does not
  std::string wide_name, wide_type;
  Span at;

  static Value unknown(Span at) {
    Value v;
    v.at = std::move(at);
    return v;
  }

  /// Made of these unrounded: a name in them that is wider than the format is one here too.
  void wide_as(const std::vector<Value>& values) {
    for (const Value& x : values) {
      if (!x.wide) continue;
      wide = x.wide;
      wide_name = x.wide_name;
      wide_type = x.wide_type;
    }
  }
};

/// How operations written here are done: exactly, rounded once each, or as a tolerance.
struct Manner {
  enum class Kind { exact, rounded, within } kind = Kind::exact;
  Format format = {};
  Flush flush = Flush::no;
  Flush flush_operands = Flush::no;  // daz
  bool contract = false;
  double ulp = 0;  // of functions; 0: correctly rounded
};

}  // namespace erx
