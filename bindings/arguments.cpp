#include "bindings/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>

#include "bindings/call.hpp"
#include "bindings/readers.hpp"
#include "eval/bind.hpp"
#include "ir/error.hpp"

namespace erx {
namespace {

bool is_archive(const std::string& path) { return path.ends_with(".npz") || path.ends_with(".safetensors"); }

bool is_name(std::string_view word) {
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0]))) return false;
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// "A=a.npy" as name and value; a word without a name in front, such as a path, is all value.
std::pair<std::string, std::string> split_word(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || !is_name(std::string_view(word).substr(0, equals))) return {"", word};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::string_view unsigned_part(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

std::optional<Tensor> exact_integer(std::string_view text) {
  if (!all_digits(unsigned_part(text))) return {};
  if (text[0] == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) return Tensor::integer(value);
  std::uint64_t wide = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), wide).ec != std::errc()) return {};
  Tensor t = Tensor::integer(0);
  auto owner = std::make_shared<std::uint64_t>(wide);
  t.storage = Storage::u64;
  t.data = reinterpret_cast<const std::byte*>(owner.get());
  t.owner = std::move(owner);
  return t;
}

std::map<std::string, Type> declared_types(const Spec& spec) {
  std::map<std::string, Type> types;
  for (const Parameter& p : spec.parameters)
    if (p.type) types[p.name] = *p.type;
  return types;
}

std::optional<Type> output_type(const Graph& graph, const Result& result) {
  if (result.declared) return result.declared;
  const Type& type = graph[result.node].type;
  return type.is_real() ? std::optional<Type>() : type;
}

Tensor read_output(const std::string& value, const std::optional<Type>& type) {
  const auto number = number_argument(value, type);
  if (!number) return read_tensor(value, type);
  if (number->is_complex() && number->storage != Storage::rational && number->imag->storage != Storage::rational) {
    const Type f64 = Type::of(*find_format("f64"));
    return Tensor::complex(Tensor::of(f64, {}, {number->at(0)}), Tensor::of(f64, {}, {number->imag->at(0)}));
  }
  if (number->storage == Storage::rational || number->is_complex()) throw Error("an output is a stored value, not the fraction " + value);
  if (!number->type.is_real()) return *number;
  Tensor t = Tensor::of(Type::of(*find_format("f64")), {}, {number->at(0)});
  return type && type->is_complex ? as_declared(t, Type::complex(t.type)) : t;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

}  // namespace

std::shared_ptr<const Program> load_program(const std::string& path) {
  std::shared_ptr<const Program> program;
  if (path == "-") {
    std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    program = parse(std::move(text), standard_input);
  } else {
    program = load(path);
  }
  if (!program->warnings.empty()) std::cerr << render(program->warnings);
  return program;
}

LoadedSpec load_spec(const std::string& place) {
  std::string path = place, name;
  const std::string named_input = std::string(standard_input) + ":";
  if (place.starts_with(named_input)) {
    path = "-";
    name = place.substr(named_input.size());
  } else if (const auto at = place.rfind(".erx:"); at != std::string::npos) {
    path = place.substr(0, at + 4);
    name = place.substr(at + 5);
  }
  LoadedSpec loaded{load_program(path), name};
  loaded.spec();  // an unknown name is reported before any input is read
  return loaded;
}

namespace {

/// "0.5+2j", "-1/3j", "1-infj": two numbers; the sign that parts them is no sign of an exponent.
std::optional<Tensor> complex_argument(const std::string& text) {
  if (text.size() < 2 || text.back() != 'j') return {};
  std::string whole = text.substr(0, text.size() - 1);
  std::size_t cut = whole.size();
  while (cut-- > 1)
    if ((whole[cut] == '+' || whole[cut] == '-') && whole[cut - 1] != 'e' && whole[cut - 1] != 'E') break;
  const bool has_real = cut > 0 && cut < whole.size();
  std::string imaginary = has_real ? whole.substr(cut) : whole;
  if (unsigned_part(imaginary).empty()) imaginary += "1";
  const auto im = number_argument(imaginary, {});
  const auto re = has_real ? number_argument(whole.substr(0, cut), {}) : Tensor::scalar(0);
  if (!im || !re || im->type.is_boolean() || re->type.is_boolean()) return {};
  return Tensor::complex(*re, *im);
}

}  // namespace

std::optional<Tensor> number_argument(const std::string& text, const std::optional<Type>& declared) {
  if (auto complex = complex_argument(text)) return complex;
  if (text == "true" || text == "false") return Tensor::boolean(text == "true");
  if (declared && declared->is_integer())
    if (auto integer = exact_integer(text)) return integer;
  if (const auto slash = text.find('/'); slash != std::string::npos) {
    const std::string_view whole(text), denominator = whole.substr(slash + 1);
    if (!all_digits(unsigned_part(whole.substr(0, slash))) || !all_digits(denominator)) return {};
    if (denominator.find_first_not_of('0') == std::string_view::npos) throw Error("`" + text + "` divides by zero");
    return Tensor::rational(text[0] == '+' ? text.substr(1) : text);
  }
  const std::string_view digits = unsigned_part(text);
  const bool special = digits == "inf" || digits == "nan" || digits == "infinity";
  if (digits.empty() || (!std::isdigit(static_cast<unsigned char>(digits[0])) && digits[0] != '.' && !special)) return {};
  char* end = nullptr;
  const double x = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return {};
  if (std::isinf(x) && !special) throw Error("`" + text + "` is past the range of a double; write inf if infinity is meant");
  return Tensor::scalar(x);
}

std::map<std::string, Tensor> read_inputs(const Spec& spec, const std::vector<std::string>& words) {
  std::map<std::string, Tensor> inputs;
  const auto types = declared_types(spec);
  const auto bind = [&](const std::string& name, Tensor t) {
    if (!inputs.emplace(name, std::move(t)).second) throw Error("input `" + name + "` is given twice");
  };
  for (const std::string& word : words) {
    const auto [name, value] = split_word(word);
    if (!name.empty()) {
      const auto declared = declared_type(spec, name);
      if (value.empty()) throw Error("`" + word + "` gives no value; write " + name + "=" + name + ".npy or " + name + "=0.3");
      auto number = number_argument(value, declared);
      bind(name, number ? std::move(*number) : read_tensor(value, declared));
    } else if (is_archive(value)) {
      for (auto& [array, t] : read_npz(value, types)) bind(array, std::move(t));
    } else if (value.starts_with("=")) {
      throw Error("`" + word + "` has no name before the `=`: write NAME" + word);
    } else if (value.ends_with(".erx")) {
      throw Error("`" + word + "` is no input: the spec comes before --in");
    } else {
      throw Error("`" + word + "` names no input: write NAME=" + word + ", or give an archive of all inputs (.npz, .safetensors)");
    }
  }
  return inputs;
}

std::vector<Tensor> read_outputs(const Graph& graph, const std::vector<std::string>& words) {
  std::map<std::string, Type> types;
  std::vector<std::string> names;
  for (const Result& r : graph.results) {
    names.push_back(result_name(r.name));
    if (const auto type = output_type(graph, r)) types[names.back()] = *type;
  }
  const auto type_of = [&](const std::string& name) {
    const auto found = types.find(name);
    return found == types.end() ? std::optional<Type>() : std::optional<Type>(found->second);
  };
  std::map<std::string, Tensor> given;
  const auto bind = [&](const std::string& name, Tensor t) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string near = did_you_mean(name, names);
      throw Error("the spec has no result `" + name + "`" + (near.empty() ? " (it has " + list(names) + ")" : "; did you mean `" + near + "`?"));
    }
    if (!given.emplace(name, std::move(t)).second) throw Error("result `" + name + "` is given twice");
  };
  for (const std::string& word : words) {
    const auto [name, value] = split_word(word);
    if (!name.empty()) {
      bind(name, read_output(value, type_of(name)));
    } else if (names.size() == 1) {
      bind(names[0], read_output(value, type_of(names[0])));
    } else if (is_archive(value)) {
      for (auto& [array, t] : read_npz(value, types)) bind(array, std::move(t));
    } else {
      throw Error("the spec has several results: write --out " + names[0] + "=" + word + " " + names[1] + "=.. (results: " + list(names) + ")");
    }
  }
  std::vector<Tensor> outputs;
  for (const Result& result : graph.results) {
    const std::string name = result_name(result.name);
    if (!given.count(name)) throw Error(names.size() == 1 ? "no output is given: --out out.npy" : "no output is given for result `" + name + "`: --out " + name + "=" + name + ".npy");
    outputs.push_back(as_output(graph, result, given[name]));
  }
  return outputs;
}

}  // namespace erx
