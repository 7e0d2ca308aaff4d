// Four X3 components from which the grammar is made. Each builds its node aside and hands it over only on success, so a branch
// that fails leaves nothing behind; each restores its place, so blanks and newlines stay visible to the next branch.
//   node(Form::call, name, arguments)   chain(operand, step)   wrapped(Form::postfix, operand, step)   recover(statement)
#pragma once
#include <boost/spirit/home/x3.hpp>
#include <string_view>
#include <utility>

#include "grammar/ast.hpp"

namespace erx::syntax {

namespace x3 = boost::spirit::x3;
using Iterator = const char*;

struct Begin;     // context tag: the first character of the text
struct Problems;  // context tag: where recovered mistakes are reported

template <class Context>
std::uint32_t offset(Iterator at, const Context& context) {
  return static_cast<std::uint32_t>(at - x3::get<Begin>(context));
}

inline bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\f'; }

/// The end of what was read: a branch that failed may have passed over blanks behind it.
template <class Context>
std::uint32_t end_offset(Iterator begin, Iterator at, const Context& context) {
  while (at > begin && is_blank(at[-1])) --at;
  return offset(at, context);
}

/// A node of one form: `text` gives its word, `children` its children, in one vector.
template <class Text, class Children>
struct NodeParser : x3::parser<NodeParser<Text, Children>> {
  using attribute_type = Syntax;
  static constexpr bool has_attribute = true;

  NodeParser(Form f, Text t, Children c, bool single) : form(f), text(std::move(t)), children(std::move(c)), unwrap_single(single) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute& attribute) const {
    const Iterator start = first;
    Syntax node;
    node.form = form;
    if (!text.parse(first, last, context, rcontext, node.text) ||
        !x3::detail::parse_into_container(children, first, last, context, rcontext, node.children)) {
      first = start;
      return false;
    }
    Iterator begin = start;
    x3::skip_over(begin, last, context);
    node.begin = offset(std::min(begin, first), context);
    node.end = end_offset(std::min(begin, first), first, context);
    first = std::max(start, x3::get<Begin>(context) + node.end);
    while (first > start && is_blank(first[-1])) --first;
    if (unwrap_single && node.size() == 1) {
      Syntax only = std::move(node.children.front());
      node = std::move(only);
    }
    x3::traits::move_to(std::move(node), attribute);
    return true;
  }

  Form form;
  Text text;
  Children children;
  bool unwrap_single;
};

/// An operand and any number of steps: the operand itself where there is no step.
template <class Operand, class Step>
struct ChainParser : x3::parser<ChainParser<Operand, Step>> {
  using attribute_type = Syntax;
  static constexpr bool has_attribute = true;

  ChainParser(Form f, Operand o, Step s) : form(f), operand(std::move(o)), step(std::move(s)) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute& attribute) const {
    Syntax node;
    if (!operand.parse(first, last, context, rcontext, node)) return false;
    Syntax next;
    Iterator behind = first;  // where a step that fails has to leave off
    if (step.parse(first, last, context, rcontext, next)) {
      Syntax chain;
      chain.form = form;
      chain.begin = node.begin;
      chain.children.push_back(std::move(node));
      do {
        chain.children.push_back(std::move(next));
        next = {};
        behind = first;
      } while (step.parse(first, last, context, rcontext, next));
      chain.end = end_offset(x3::get<Begin>(context) + chain.begin, behind, context);
      node = std::move(chain);
    }
    first = behind;
    x3::traits::move_to(std::move(node), attribute);
    return true;
  }

  Form form;
  Operand operand;
  Step step;
};

/// Where `subject` meets a mistake: reports it, goes on behind the statement, and leaves a node of form `error`.
template <class Subject>
struct RecoverParser : x3::parser<RecoverParser<Subject>> {
  using attribute_type = Syntax;
  static constexpr bool has_attribute = true;

  explicit RecoverParser(Subject s) : subject(std::move(s)) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute& attribute) const {
    const Iterator start = first;
    try {
      return subject.parse(first, last, context, rcontext, attribute);
    } catch (const x3::expectation_failure<Iterator>& failure) {
      x3::get<Problems>(context).get().report(failure.where(), failure.which());
      first = behind_statement(start, failure.where(), last);
      Syntax node;
      node.form = Form::error;
      node.begin = offset(start, context);
      node.end = offset(first, context);
      x3::traits::move_to(std::move(node), attribute);
      return true;
    }
  }

  /// The first newline or `;` at the depth of the statement, or the `}` that ends its block, at or after the mistake.
  /// A statement word that starts the line where the mistake shows begins the next statement.
  static Iterator behind_statement(Iterator at, Iterator mistake, Iterator last) {
    int depth = 0;
    while (at != last && is_blank(*at)) ++at;
    Iterator next = mistake;
    while (next != at && is_blank(next[-1])) --next;
    bool new_line = false;
    while (next != last && is_blank(*next)) new_line |= *next++ == '\n';
    if (!new_line || !starts_statement(next, last)) next = last;
    for (; at != last; ++at) {
      if (at == next && depth == 0) return at;
      if (*at == '"') {
        Iterator close = at + 1;
        while (close != last && *close != '"' && *close != '\n') ++close;
        if (close == last) return last;
        at = close;
        if (*at == '"') continue;
      }
      if (*at == '(' || *at == '[' || *at == '{') ++depth;
      if (*at == ')' || *at == ']' || *at == '}') {
        if (depth == 0 && *at == '}') return at;
        if (depth > 0) --depth;
      }
      if (depth == 0 && at >= mistake && (*at == '\n' || *at == ';')) return at;
    }
    return last;
  }

  static bool starts_statement(Iterator at, Iterator last) {
    const std::string_view rest(at, static_cast<std::size_t>(last - at));
    for (std::string_view word : {"let ", "return ", "assume ", "covers ", "rejects ", "mutant "}) {
      if (rest.substr(0, word.size()) == word) return true;
    }
    return false;
  }

  Subject subject;
};

template <class Text, class Children>
auto node(Form form, const Text& text, const Children& children) {
  return NodeParser(form, x3::as_parser(text), x3::as_parser(children), false);
}
/// As `node`, but a single child stands for itself.
template <class Children>
auto group(Form form, const Children& children) {
  return NodeParser(form, x3::attr(std::string()), x3::as_parser(children), true);
}
template <class Operand, class Step>
auto chain(Form form, const Operand& operand, const Step& step) {
  return ChainParser(form, x3::as_parser(operand), x3::as_parser(step));
}
template <class Subject>
auto recover(const Subject& subject) {
  return RecoverParser(x3::as_parser(subject));
}

}  // namespace erx::syntax
