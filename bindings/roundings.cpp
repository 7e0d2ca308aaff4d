#include "bindings/roundings.hpp"

#include <cctype>
#include <map>
#include <set>

#include "ir/format.hpp"

namespace erx {
namespace {

using Words = std::map<std::string, std::string>;

const Words& directions() {
  static const Words table = {{"rne", "to nearest even"}, {"rna", "to nearest, ties away from zero"}, {"rtz", "toward zero"}, {"rtp", "up"},
                              {"rtn", "down"}, {"rto", "to odd"}, {"sr", "to either neighbour (stochastic)"}, {"faithful", "to either neighbour"}};
  return table;
}

const Words& overflows() {
  static const Words table = {{"sat", "too large becomes the largest value"}, {"sat_finite", "too large becomes the largest value, infinities stay"}, {"nosat", "too large becomes infinite, or NaN"}};
  return table;
}

const Words& orders() {
  static const Words table = {{"any", "in any order"}, {"assoc", "in any grouping of the order written"}, {"seq", "from left to right"},
                              {"rseq", "from right to left"}, {"pairwise", "pairwise"}, {"blocked", "in blocks"}, {"split", "in contiguous parts"},
                              {"height", "in trees of bounded height"}, {"tensor_core", "as a tensor core adds"}};
  return table;
}

class Reader {
 public:
  explicit Reader(const Ast& ast) : ast_(&ast) {}

  void read(const Syntax& s) {
    node(s);
    for (const Syntax& c : s.children) read(c);
    if (s.is(Form::call)) function(s.text);
  }

  std::vector<RoundingInWords> all;

 private:
  static std::string word_of(const Syntax& s) { return s.is(Form::argument) ? s.text : s.is(Form::name) || s.is(Form::call) ? s.text : ""; }

  std::string text(const Syntax& s) const { return std::string(ast_->span(s).text()); }

  const Syntax* option(const Syntax& list, const std::string& name) const {
    for (const Syntax& o : list.children)
      if (word_of(o) == name) return &o;
    return nullptr;
  }

  /// The words of a table that stand in a list, joined by commas; `otherwise` where there is none.
  std::string found(const Syntax& list, const Words& table, const std::string& otherwise) const {
    std::string all_found;
    for (const Syntax& o : list.children)
      if (const auto at = table.find(word_of(o)); at != table.end())
        all_found += (all_found.empty() ? "" : ", ") + at->second + (o.is(Form::call) ? ", `" + text(o) + "`" : "");
    return all_found.empty() ? otherwise : all_found;
  }

  std::string flushed(const Syntax& list, const std::string& name, const std::string& what) const {
    const Syntax* o = option(list, name);
    if (!o || (o->is(Form::argument) && text((*o)[0]) == "no")) return "";
    return std::string(", ") + what + (o->is(Form::argument) && text((*o)[0]) == "free" ? " may become 0" : " become 0");
  }

  std::string once(const Syntax& list) const {
    const std::string over = found(list, overflows(), "");
    return "rounded once to " + text(list[0]) + ", " + found(list, directions(), "to nearest even") + (over.empty() ? "" : ", " + over) +
           flushed(list, "ftz", "subnormal results");
  }

  std::string sum(const Syntax& list) const {
    const Syntax* fma = option(list, "fma");
    const std::string fused = fma ? text((*fma)[0]) : "free";
    return "every addition rounded to " + text(list[0]) + ", " + found(list, orders(), "in any order") + ", products " +
           (fused == "always" ? "fused" : fused == "never" ? "rounded by themselves" : "fused or not") + flushed(list, "ftz", "subnormal results");
  }

  std::string block(const Syntax& s) const {
    const Syntax* ulp = option(s[1], "ulp");
    return "every operation inside rounded once to " + text(s[0]) + (option(s[1], "contract") ? ", products fused with their additions or not" : "") +
           (ulp ? ", functions within " + text((*ulp)[0]) + " ulp" : "") + flushed(s[1], "ftz", "subnormal results") + flushed(s[1], "daz", "subnormal operands");
  }

  std::string approximate(const Syntax& list) const {
    static const Words bounds = {{"ulp", "ulp"}, {"steps", "values of the format"}, {"rel", "relative"}, {"abs", "absolute"}};
    std::string error, cut;
    for (const Syntax& o : list.children) {
      if (!o.is(Form::argument)) continue;
      if (const auto at = bounds.find(o.text); at != bounds.end()) error += (error.empty() ? "" : " and ") + text(o[0]) + " " + at->second;
      if (o.text == "lo" || o.text == "hi") cut += std::string(", ") + (o.text == "lo" ? "at least " : "at most ") + text(o[0]);
      if (o.text == "src") cut += " (" + o[0].text + ")";
    }
    return "any value of " + text(list[0]) + " within " + error + cut;
  }

  void node(const Syntax& s) {
    if (s.is(Form::in_block)) return say(s, block(s));
    if (s.is(Form::choose)) return say(s, "one number for the whole call, of " + text(s[0]));
    if (s.is(Form::call) && find_format(s.text) && s[0].size() == 1) return say(s, "rounded once to " + s.text + ", to nearest even");
    if (!s.is(Form::head)) return;
    const Syntax& list = s[0];
    if (s.text == "any_of")
      return say(s, "one of " + std::to_string(s[1].size()) + (list.size() ? ", one choice for the whole call: \"" + list[0].text + "\"" : ", element by element"));
    if (list.size() == 0) return;
    if (s.text == "round") return say(s, once(list));
    if (s.text == "acc") return say(s, sum(list));
    if (s.text == "within")
      return say(s, "every operation rounded to nearest in " + text(list[0]) + " or better, sums in any order, functions within 2 ulp" + flushed(list, "ftz", "subnormal values"));
    if (s.text == "approx") return say(s, approximate(list));
    if (s.text == "scan") return say(s, "every operation rounded once to " + text(list[0]) + ", " + found(list, orders(), "in any grouping"));
    if (s.text == "cast") return say(s, "to " + text(list[0]) + ", the fraction cut off; what does not fit may become anything");
    if (s.text == "wrap") return say(s, "the low bits as " + text(list[0]));
    if (s.text == "saturate") return say(s, "to " + text(list[0]) + ", to nearest even, cut at its ends");
  }

  void say(const Syntax& s, std::string what) {
    constexpr std::size_t limit = 60;
    std::string written;
    bool in_text = false, in_comment = false;
    for (const char c : text(s)) {
      in_text = in_text != (c == '"' && !in_comment);
      in_comment = c != '\n' && (in_comment || (c == '#' && !in_text));
      if (in_comment) continue;
      const bool space = std::isspace(static_cast<unsigned char>(c));
      if (!space || (!written.empty() && written.back() != ' ')) written += space ? ' ' : c;
    }
    if (written.size() > limit) written = written.substr(0, limit) + "...";
    all.push_back({ast_->source->name, position_of(*ast_->source, s.begin).line, written, std::move(what)});
  }

  /// A function of this file or of one that it imports: once.
  void function(const std::string& name) {
    for (const Ast* file : files(ast_)) {
      for (const Syntax& item : file->items) {
        if (!item.is(Form::fn) || item.text != name || !read_.insert(&item).second) continue;
        const Ast* const outer = ast_;
        ast_ = file;
        read(item);
        ast_ = outer;
      }
    }
  }

  static std::vector<const Ast*> files(const Ast* from) {
    std::vector<const Ast*> found = {from};
    for (std::size_t i = 0; i < found.size(); ++i)
      for (const auto& file : found[i]->imports)
        if (file) found.push_back(file.get());
    return found;
  }

  const Ast* ast_;
  std::set<const Syntax*> read_;
};

}  // namespace

std::vector<RoundingInWords> roundings(const Ast& ast, const Syntax& item) {
  Reader reader(ast);
  reader.read(item.is(Form::spec) ? item[3] : item);
  return std::move(reader.all);
}

}  // namespace erx
