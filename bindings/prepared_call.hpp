// What a spec says for inputs of certain types and shapes, whatever their values: made once for all calls that are alike.
//   PreparedCalls calls;   const auto call = calls.of(spec, {{"A", {type, {4, 4}}}});   call->graph
#pragma once
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grammar/program.hpp"

namespace erx {

struct PreparedCall {
  std::map<std::string, Binding> bindings;  // a number has its value here only where the graph may depend on it: a whole number may be a dimension
  std::shared_ptr<const Graph> graph;       // as it is lowered
  std::shared_ptr<const Graph> composed;    // as it is evaluated where every input is data; nullptr: too large to be kept
  std::vector<std::size_t> order;           // the inputs of `composed`, as places among those of `graph`
};

/// The latest calls of one spec. Threads may ask at once.
class PreparedCalls {
 public:
  /// errors: as Spec::lower; they are kept by nobody, and told again.
  std::shared_ptr<const PreparedCall> of(const Spec&, std::map<std::string, Binding>);

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<const PreparedCall>> calls_;  // the latest first
};

}  // namespace erx
