// The names of choices that are made once for a whole call: labels of any_of, numbers of `choose`, parts of a split sum.
// `choose s in {64, 128}` is labelled "s in {64, 128}"; it is the same choice as any_of<"s">.
//   choice_label("s in {64, 128}")   {"s", {"64", "128"}}
#pragma once
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace erx {

struct ChoiceLabel {
  std::string name;
  std::vector<std::string> values;  // of `choose`; empty: alternatives without a name of their own
};

inline ChoiceLabel choice_label(const std::string& text) {
  const auto at = text.find(" in {");
  if (at == std::string::npos || text.back() != '}') return {text, {}};
  ChoiceLabel label{text.substr(0, at), {""}};
  for (std::size_t k = at + 5; k + 1 < text.size(); ++k) {
    if (text[k] == ',') label.values.emplace_back();
    else if (text[k] != ' ') label.values.back() += text[k];
  }
  return label;
}

inline std::string choice_key(const Node& node) { return "label " + choice_label(node.attributes.text).name; }
inline bool is_label_key(const std::string& key) { return key.starts_with("label "); }
inline std::string split_key(NodeId id) { return "split " + std::to_string(id); }

}  // namespace erx
