// erx ops, erx formats, erx words: loops over the rows.
#include <algorithm>
#include <iostream>

#include "bindings/commands.hpp"
#include "bindings/table.hpp"
#include "eval/number_text.hpp"
#include "grammar/prelude.hpp"
#include "grammar/words.hpp"
#include "ir/format.hpp"
#include "ops/op.hpp"

namespace erx {
namespace {

std::string operands(const Op& op) {
  if (op.operands_max < 0) return std::to_string(op.operands_min) + " or more";
  if (op.operands_max == op.operands_min) return std::to_string(op.operands_min);
  return std::to_string(op.operands_min) + " to " + std::to_string(op.operands_max);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

std::string special_values(const Format& f) {
  std::vector<std::string> lacks;
  if (!f.has_infinity()) lacks.push_back("infinity");
  if (!f.has_nan()) lacks.push_back("NaN");
  if (!f.has_subnormals) lacks.push_back("subnormals");
  if (!f.has_zero) lacks.push_back("zero");
  if (!f.has_sign) lacks.push_back("sign");
  else if (!f.has_negative_zero()) lacks.push_back("-0");
  return lacks.empty() ? "" : "no " + joined(lacks);
}

}  // namespace

int ops_command() {
  Table table;
  table.add({"name", "symbol", "operands", "meaning", "source"});
  for (const Op* op : all_ops()) table.add({std::string(op->name), std::string(op->symbol), operands(*op), std::string(op->doc), std::string(op->source)});
  std::cout << table.text();
  Table standard;
  standard.add({"standard function", "meaning"});
  for (const PreludeFunction& f : prelude_functions()) standard.add({f.call, f.meaning});
  std::cout << "\n" << standard.text();
  return covered;
}

int words_command() {
  Table table;
  table.add({"kind", "words"});
  for (const WordList& list : all_words()) {
    std::string words;
    for (const std::string& w : list.words) words += (words.empty() ? "" : " ") + w;
    table.add({list.kind, words});
  }
  std::cout << table.text();
  return covered;
}

int formats_command() {
  Table table;
  table.add({"name", "bits", "exponent", "fraction", "bias", "largest", "smallest normal", "smallest", "without", "also written", "source"});
  for (const Format& f : all_formats())
    table.add({f.name, std::to_string(f.width()), std::to_string(f.exponent_bits), std::to_string(f.fraction_bits), std::to_string(f.bias),
               number_text(f.max_finite()), number_text(f.min_normal()), number_text(f.min_positive()), special_values(f), joined(format_aliases(f)), std::string(f.source)});
  std::cout << table.text();
  return covered;
}

}  // namespace erx
