// The syntax of a file: a tree of nodes that say what they are, carry their own word (a name, an operator, a number) and their place.
// Parentheses leave no node. A chain of binary operators of one level is one flat node, so its length never becomes depth.
//   a + b - c   ->   chain { name a, step "+" { name b }, step "-" { name c } }
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/source.hpp"

namespace erx {

enum class Form {
  nothing,  // an optional part that was left out
  error,    // a statement or item that did not parse; its mistake has been reported
  // expressions
  number,
  string,
  name,
  chain,     // first operand, then steps
  step,      // text: the operator; the right operand
  prefix,    // text: "-", "+" or "not"; the operand
  power,     // base, exponents (the operator groups to the right)
  call,      // text: the function; arguments
  argument,  // text: the keyword; the value
  masked,    // value, mask:  sum(x where m)
  head,      // text: round, acc ...; template_arguments, arguments
  template_arguments,
  arguments,
  set,  // {1, 2, 4}
  tuple,
  array,
  postfix,  // operand, then indices and members
  index,    // the list of A[...]
  slice,    // start, stop, step or `nothing`
  ellipsis,
  member,    // text: the name after the dot
  in_block,  // the format, options (arguments), block
  choose,    // text: the name; the set, block
  fold,      // arguments (the state), the loop variable, range, block
  range,     // first, end:  0..B, or one call of tiles(N, 128)
  // statements
  block,  // statements
  let,    // text: the name, or "" with `names` first; the value
  names,
  assume,
  give,  // give: return, next, or the last expression of a block
  // items
  spec,
  fn,  // text: the name; generics, parameters, results, block
  generics,
  generic,  // text: the name; kind, default
  parameters,
  parameter,  // text: the name; type, default
  type,       // what it is (a name or a head), dims or `nothing`
  dims,
  rest,  // rest: text: the name after "..."
  results,
  result,       // text: the name or ""; type
  format_item,  // text: the name; the format
  import_item,  // text: the path as written
  example,      // text: the description; the spec's name or `nothing`; lines
  input_line,
  covers_line,
  rejects_line,  // text: the name or ""; the value
  mutant_line,   // text: the name in quotes; the expression
};

struct Syntax {
  Form form = Form::nothing;
  std::string text;
  std::vector<Syntax> children;
  std::uint32_t begin = 0, end = 0;

  const Syntax& operator[](std::size_t i) const { return children[i]; }
  std::size_t size() const { return children.size(); }
  bool is(Form f) const { return form == f; }
};

struct Ast {
  std::shared_ptr<const Source> source;
  std::vector<Syntax> items;                        // one of form `block` for a bare expression
  std::vector<std::shared_ptr<const Ast>> imports;  // of the import items, in their order; empty where a file could not be read

  Span span(const Syntax& s) const { return {source, s.begin, s.end}; }
};

}  // namespace erx
