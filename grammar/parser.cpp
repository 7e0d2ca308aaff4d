#include "grammar/parser.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

#include "grammar/node_parser.hpp"
#include "grammar/scan.hpp"
#include "grammar/syntax_error.hpp"

namespace erx {
namespace syntax {
namespace {

// Words and numbers. A rule that follows `>` is named as a reader would call it: its name is the message.
const auto name_char = x3::ascii::alnum | x3::char_('_');
struct Reserved : x3::symbols<int> {
  Reserved() {
    for (auto w : reserved_words()) add(std::string(w), 0);
  }
} const reserved;

auto keyword(const char* word) { return x3::lexeme[x3::lit(word) >> !name_char]; }
auto word(const char* text) { return x3::lexeme[x3::string(text) >> !name_char]; }
template <class P>
auto on_line(const P& p) {  // `[`, `(` and `.T` stay on the line of their operand
  return x3::no_skip[x3::omit[*x3::char_(" \t")] >> p];
}

template <class Id>
using Words = x3::rule<Id, std::string>;
template <class Id>
using Rule = x3::rule<Id, Syntax>;
template <class Id>
using Mark = x3::rule<Id>;

const Words<struct NameText> name_text = "a name";
const auto name_text_def = x3::lexeme[!(x3::omit[reserved] >> !name_char) >> (x3::ascii::alpha | x3::char_('_')) >> *name_char];
const Words<struct NumberText> number_text = "a number";
const auto decimal = ((+x3::ascii::digit >> -('.' >> !x3::lit('.') >> *x3::ascii::digit)) | ('.' >> +x3::ascii::digit)) >>
                     -(x3::char_("eE") >> -x3::char_("+-") >> +x3::ascii::digit);
const auto hexadecimal = '0' >> x3::char_("xX") >> +x3::ascii::xdigit >> -('.' >> *x3::ascii::xdigit) >>
                         -(x3::char_("pP") >> -x3::char_("+-") >> +x3::ascii::digit);
const auto number_text_def = x3::raw[x3::lexeme[(hexadecimal | decimal) >> !name_char]];
const Words<struct StringText> string_text = "a text in quotes";
const auto string_text_def = x3::lexeme['"' >> *(('\\' >> x3::char_) | (x3::char_ - '"' - '\n')) >> '"'];
BOOST_SPIRIT_DEFINE(name_text, number_text, string_text)

const auto none = x3::attr(std::string());
const auto absent = node(Form::nothing, none, x3::eps);

// What may end a list or follow its element; a comma after the last element is allowed.
const Mark<struct CommaParen> comma_paren = "`,` or `)`";
const auto comma_paren_def = x3::lit(',') | &x3::lit(')');
const Mark<struct CommaBracket> comma_bracket = "`,` or `]`";
const auto comma_bracket_def = x3::lit(',') | &x3::lit(']');
const Mark<struct CommaAngle> comma_angle = "`,` or `>`";
const auto comma_angle_def = x3::lit(',') | &x3::lit('>');
const Mark<struct CommaBrace> comma_brace = "`,` or `}`";
const auto comma_brace_def = x3::lit(',') | &x3::lit('}');
const Mark<struct CloseArguments> close_arguments = "an expression or `)`";
const auto close_arguments_def = x3::lit(')');
const Mark<struct CloseList> close_list = "an expression or `]`";
const auto close_list_def = x3::lit(']');
const Mark<struct CloseTemplate> close_template = "a value or `>`";
const auto close_template_def = x3::lit('>');
const Mark<struct CloseSet> close_set = "a number or `}`";
const auto close_set_def = x3::lit('}');
const Mark<struct CloseDims> close_dims = "a dimension or `]`";
const auto close_dims_def = x3::lit(']');
const Mark<struct CloseParameters> close_parameters = "a parameter or `)`";
const auto close_parameters_def = x3::lit(')');
const Mark<struct CloseNames> close_names = "a name or `)`";
const auto close_names_def = x3::lit(')');
const Mark<struct CloseBlock> close_block = "a statement or `}`";
const auto close_block_def = x3::lit('}');
const Mark<struct CloseExample> close_example = "`NAME = value`, `covers`, `rejects`, `mutant` or `}`";
const auto close_example_def = x3::lit('}');
BOOST_SPIRIT_DEFINE(comma_paren, comma_bracket, comma_angle, comma_brace)
BOOST_SPIRIT_DEFINE(close_arguments, close_list, close_template, close_set, close_dims, close_parameters, close_names, close_block,
                    close_example)

const Rule<struct ExpressionId> expression = "an expression";
const Rule<struct NegationId> negation = "an expression";
const Rule<struct ComparisonId> comparison = "an expression";
const Rule<struct AdditiveId> additive = "an expression";
const Rule<struct ProductId> product = "an expression";
const Rule<struct UnaryId> unary = "an expression";
const Rule<struct ValueId> value = "an expression";
const Rule<struct ArgumentId> argument = "an expression";
const Rule<struct ArgumentsId> arguments = "`(`";
const Rule<struct TemplateValueId> template_value = "a value";
const Rule<struct TemplateArgumentId> template_argument = "a value";
const Rule<struct TemplateArgumentsId> template_arguments = "`<` with a format";
const Rule<struct FormatId> format = "a format";
const Rule<struct BlockId> block = "`{`";

// Arguments of a call, and those of a head between < and >.
const auto set_literal = node(Form::set, none, x3::lit('{') >> *(additive > comma_brace) > close_set);
const auto value_def = node(Form::string, string_text, x3::eps) | set_literal | chain(Form::masked, expression, keyword("where") > expression);
const auto key = name_text >> '=' >> !x3::lit('=');
const auto argument_def = node(Form::argument, key, x3::eps > value) | value;
const auto arguments_def = node(Form::arguments, none, x3::lit('(') >> *(argument > comma_paren) > close_arguments);
const auto template_value_def = node(Form::string, string_text, x3::eps) | set_literal | additive;
const auto template_argument_def = node(Form::argument, key, x3::eps > template_value) | template_value;
const auto template_arguments_def =
    node(Form::template_arguments, none, x3::lit('<') >> *(template_argument > comma_angle) > close_template);
BOOST_SPIRIT_DEFINE(value, argument, arguments, template_value, template_argument, template_arguments)

// Operands.
const auto head_word =
    word("round") | word("acc") | word("approx") | word("within") | word("scan") | word("cast") | word("wrap") | word("saturate");
const auto head = node(Form::head, head_word, x3::eps > template_arguments > arguments);
const auto no_template_arguments = node(Form::template_arguments, none, x3::eps);
const auto free_head =
    node(Form::head, word("any_of") | word("complex"), ((&x3::lit('<') > template_arguments) | no_template_arguments) > arguments);
const auto float_head = node(Form::head, word("float"), x3::eps > template_arguments);
const auto format_def = float_head | node(Form::name, name_text, x3::eps);
const auto in_block =
    node(Form::in_block, word("in"), x3::eps > format >> node(Form::arguments, none, *(x3::lit(',') > template_argument)) > block);
const Rule<struct SetId> set_rule = "`{` and numbers";
const auto set_rule_def = set_literal;
const Rule<struct StateId> state = "`(` and the state, as in (m = 0)";
const auto state_def =
    node(Form::arguments, none, x3::lit('(') >> *(node(Form::argument, key, x3::eps > value) > comma_paren) > close_arguments);
const Mark<struct InId> word_in = "`in`";
const auto word_in_def = keyword("in");
const Mark<struct OverId> word_over = "`over`";
const auto word_over_def = keyword("over");
const Words<struct LoopName> loop_name = "a name";
const auto loop_name_def = name_text;
const Rule<struct RangeId> range = "a range, 0..B or tiles(N, 128)";
const auto range_def = node(Form::range, none, additive >> *(x3::lit("..") > additive));
const Rule<struct LoopVariable> loop_variable = "a name";
const auto loop_variable_def = node(Form::name, name_text, x3::eps);
BOOST_SPIRIT_DEFINE(set_rule, state, word_in, word_over, loop_name, range, loop_variable)
const auto choose = node(Form::choose, keyword("choose") > loop_name, x3::eps > word_in > set_rule > block);
const auto fold = node(Form::fold, keyword("fold") >> none, x3::eps > state > word_over > loop_variable > word_in > range > block);
const auto call = node(Form::call, name_text >> &on_line(x3::lit('(')), arguments);
const auto parenthesised = group(Form::tuple, x3::lit('(') >> *(expression > comma_paren) > close_arguments);
const auto array = node(Form::array, none, x3::lit('[') >> *(expression > comma_bracket) > close_list);
const auto operand = node(Form::number, number_text, x3::eps) | parenthesised | head | free_head | float_head | in_block | choose | fold |
                     call | node(Form::name, name_text, x3::eps);

const auto part = expression | absent;
const auto ellipsis = node(Form::ellipsis, none, x3::lit("..."));
const auto index_item = ellipsis | group(Form::slice, part >> *(':' >> part));
const auto index = node(Form::index, none, on_line(x3::lit('[')) >> *(!x3::lit(']') >> index_item > comma_bracket) > close_list);
const auto member = node(Form::member, on_line('.' >> !x3::lit('.')) > name_text, x3::eps);
const auto postfix = array | chain(Form::postfix, operand, index | member);

// Levels of operators, the tightest first. A `-` at the start of a line begins a new expression.
const auto minus = x3::no_skip[x3::omit[*x3::char_(" \t\f")] >> x3::string("-")];
const auto power = chain(Form::power, postfix, x3::lit("**") > unary);
const auto unary_def = node(Form::prefix, x3::string("-") | x3::string("+"), x3::eps > unary) | power;
const auto product_symbol = x3::string("//") | x3::string("/") | x3::string("%") | x3::string("@") | (x3::string("*") >> !x3::lit('*'));
const auto product_def = chain(Form::chain, unary, node(Form::step, product_symbol, x3::eps > unary));
const auto additive_def = chain(Form::chain, product, node(Form::step, minus | x3::string("+"), x3::eps > product));
const auto comparison_symbol =
    x3::string("<=") | x3::string(">=") | x3::string("==") | x3::string("!=") | x3::string("<") | x3::string(">");
const auto comparison_def = chain(Form::chain, additive, node(Form::step, comparison_symbol, x3::eps > additive));
const auto negation_def = node(Form::prefix, word("not"), x3::eps > negation) | comparison;
const auto conjunction = chain(Form::chain, negation, node(Form::step, word("and"), x3::eps > negation));
const auto expression_def = chain(Form::chain, conjunction, node(Form::step, word("or"), x3::eps > conjunction));
BOOST_SPIRIT_DEFINE(expression, negation, comparison, additive, product, unary, format)

// Statements.
const Mark<struct EqualsId> equals = "`=`";
const auto equals_def = x3::lit('=') >> !x3::lit('=');
const Words<struct LetName> let_name = "a name or `(`";
const auto let_name_def = name_text;
const Rule<struct NameListId> name_list = "names";
const auto one_name = node(Form::name, name_text, x3::eps);
const auto name_list_def = node(Form::names, none, x3::lit('(') >> *(one_name > comma_paren) > close_names);
const auto let_one = node(Form::let, keyword("let") >> name_text, x3::eps > equals > expression);
const auto let_many = node(Form::let, keyword("let") >> &x3::lit('(') >> none, x3::eps > name_list > equals > expression);
const auto let_wrong = node(Form::let, keyword("let") > let_name, x3::eps);
const auto assume = node(Form::assume, keyword("assume") >> none, x3::eps > expression);
const auto give = node(Form::give, (keyword("return") | keyword("next")) >> none, x3::eps > expression);
const auto last = node(Form::give, none, expression);
const Rule<struct StatementId> statement = "a statement";
const auto statement_def = recover(let_one | let_many | let_wrong | assume | give | last);
const auto block_def =
    node(Form::block, none, x3::lit('{') >> *(x3::omit[*x3::lit(';')] >> !x3::lit('}') >> statement) >> *x3::lit(';') > close_block);
BOOST_SPIRIT_DEFINE(equals, let_name, name_list, statement, block)
// A file without items: an expression, after `let`s if there are any.
const auto bare = node(Form::block, none, +(x3::omit[*x3::lit(';')] >> statement));

// Items.
const Mark<struct Colon> colon = "`:` and a type";
const auto colon_def = x3::lit(':');
const Mark<struct Arrow> arrow = "`->` and the type of the result";
const auto arrow_def = x3::lit("->");
const Words<struct ItemName> item_name = "a name";
const auto item_name_def = name_text;
const Rule<struct TypeId> type = "a type";
const Rule<struct GenericKind> generic_kind = "`format` or `int`";
const Rule<struct GenericsId> generics = "`<`";
const Rule<struct ParametersId> parameters = "`(`";
const Rule<struct ResultsId> results = "a type";
const Rule<struct LinesId> lines = "`{`";
const Rule<struct SpecNameId> spec_name = "the name of a spec";
BOOST_SPIRIT_DEFINE(colon, arrow, item_name)

const auto rest = node(Form::rest, "..." >> (name_text | none), x3::eps);
const auto dims = node(Form::dims, none, x3::lit('[') >> *((rest | additive) > comma_bracket) > close_dims);
const auto complex_head = node(Form::head, word("complex"), (&x3::lit('<') > template_arguments) | no_template_arguments);
const auto type_def = node(Form::type, none, (float_head | complex_head | one_name) >> (dims | absent));
const auto default_value = (equals > expression) | absent;
const auto generic_kind_def = node(Form::name, word("format") | name_text, x3::eps);
const auto generic = node(Form::generic, name_text, (x3::eps > colon > generic_kind) >> ((equals > template_value) | absent));
const auto generics_def = node(Form::generics, none, (x3::lit('<') >> *(generic > comma_angle) > close_template) | x3::eps);
const auto parameter = node(Form::parameter, name_text, (x3::eps > colon > type) >> default_value);
const auto parameters_def = node(Form::parameters, none, x3::lit('(') >> *(parameter > comma_paren) > close_parameters);
const auto result = node(Form::result, name_text, x3::eps > colon > type);
const auto results_def =
    node(Form::results, none, (x3::lit('(') >> *(result > comma_paren) > close_parameters) | node(Form::result, none, type));
const auto spec = node(Form::spec, keyword("spec") > item_name, x3::eps > generics > parameters > arrow > results > block);
const auto typed = (colon > type) | absent;
const auto fn_parameter = node(Form::parameter, name_text, typed >> default_value);
const auto fn_parameters = node(Form::parameters, none, x3::lit('(') >> *(fn_parameter > comma_paren) > close_parameters);
const auto fn_results = (x3::lit("->") > results) | node(Form::results, none, x3::eps);
const auto fn_body = (equals > expression) | block;
const Rule<struct FnParametersId> fn_parameters_rule = "`(`";
const auto fn_parameters_rule_def = fn_parameters;
const Rule<struct FnBodyId> fn_body_rule = "`{` or `=`";
const auto fn_body_rule_def = fn_body;
const auto fn = node(Form::fn, keyword("fn") > item_name, (x3::eps > generics > fn_parameters_rule) >> (fn_results > fn_body_rule));
const auto format_item = node(Form::format_item, keyword("format") > item_name, x3::eps > equals > format);
const auto import_item = node(Form::import_item, keyword("import") > string_text, x3::eps);

const auto covers = node(Form::covers_line, keyword("covers") >> ((name_text >> equals) | none), x3::eps > expression);
const auto rejects = node(Form::rejects_line, keyword("rejects") >> ((name_text >> equals) | none), x3::eps > expression);
const Mark<struct MutantColon> mutant_colon = "`:` and an expression";
const auto mutant_colon_def = x3::lit(':');
const Words<struct MutantName> mutant_name = "the mutant's name in quotes";
const auto mutant_name_def = string_text;
BOOST_SPIRIT_DEFINE(mutant_colon, mutant_name)
const auto mutant = node(Form::mutant_line, (keyword("mutant") >> !x3::lit('=')) > mutant_name, x3::eps > mutant_colon > expression);
const auto input_line = node(Form::input_line, name_text, x3::eps > equals > expression);
const auto line = recover(covers | rejects | mutant | input_line);
const auto lines_def = node(Form::block, none, x3::lit('{') >> *(x3::omit[*x3::lit(';')] >> line) >> *x3::lit(';') > close_example);
const auto example_head = keyword("example") >> none;
const auto spec_name_def = one_name | absent;
const Rule<struct TextId> description = "a text in quotes";
const auto description_def = node(Form::string, string_text, x3::eps);
const auto example = node(Form::example, example_head, x3::eps > spec_name > description > lines);
const auto item = spec | fn | format_item | import_item | example;
BOOST_SPIRIT_DEFINE(type, generic_kind, generics, parameters, results, lines, spec_name, description, fn_parameters_rule, fn_body_rule)

}  // namespace

/// Parses one byte range; false where nothing of the wanted kind begins there.
template <class Parser>
Syntax parse_range(const Parser& parser, const char* wanted, const std::string& text, std::uint32_t begin, std::uint32_t end,
                   SyntaxErrors& problems) {
  const Iterator origin = text.data();
  Iterator first = origin + begin;
  const Iterator stop = origin + end;
  Syntax result;
  auto with_context = x3::with<Begin>(origin)[x3::with<Problems>(std::ref(problems))[x3::skip(x3::ascii::space)[parser]]];
  try {
    if (!with_context.parse(first, stop, x3::unused, x3::unused, result)) {
      problems.report(first, wanted);
      return Syntax{Form::error, "", {}, begin, end};
    }
  } catch (const x3::expectation_failure<Iterator>& failure) {
    problems.report(failure.where(), failure.which());
    return Syntax{Form::error, "", {}, begin, end};
  }
  while (first != stop && (std::isspace(static_cast<unsigned char>(*first)) || *first == ';')) ++first;
  if (first != stop) problems.report_rest(first);
  return result;
}

}  // namespace syntax

std::shared_ptr<const Ast> parse_syntax(const std::shared_ptr<const Source>& source, std::vector<Diagnostic>& errors) {
  auto ast = std::make_shared<Ast>();
  ast->source = source;
  Scan scanned = scan(source);
  SyntaxErrors problems(source, scanned.text, errors);
  errors.insert(errors.end(), scanned.errors.begin(), scanned.errors.end());
  // Brackets that do not match are reported once, by the scan; what the parser makes of the item would be noise.
  auto readable = [&](std::uint32_t from, std::uint32_t to) {
    return std::none_of(scanned.errors.begin(), scanned.errors.end(),
                        [&](const Diagnostic& d) { return d.span.begin >= from && d.span.begin < to; });
  };
  const auto end = static_cast<std::uint32_t>(scanned.text.size());
  if (scanned.items.empty() && readable(0, end)) {
    Syntax whole =
        syntax::parse_range(syntax::bare, "an expression or an item (spec, fn, format, import, example)", scanned.text, 0, end, problems);
    ast->items.push_back(std::move(whole));
  }
  for (const auto& [from, to] : scanned.items) {
    if (!readable(from, to)) {
      ast->items.push_back(Syntax{Form::error, "", {}, from, to});
      continue;
    }
    ast->items.push_back(
        syntax::parse_range(syntax::item, "an item (spec, fn, format, import, example)", scanned.text, from, to, problems));
  }
  for (const Syntax& item : ast->items) problems.check_separators(item);
  return ast;
}

}  // namespace erx
