#include "bindings/npy_header.hpp"

#include <charconv>
#include <limits>
#include <string_view>

#include "ir/error.hpp"

namespace erx {
namespace {

// Reads the few Python literals that a header holds.
class Reader {
 public:
  Reader(std::string_view text, const std::string& place) : rest_(text), place_(place) {}

  [[noreturn]] void damaged() const { throw Error("cannot read `" + place_ + "`: its .npy header is damaged"); }

  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged();
  }
  std::string string() {
    skip();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) damaged();
    const auto end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) damaged();
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}})
      if (rest_.substr(0, word.size()) == word) {
        rest_.remove_prefix(word.size());
        return value;
      }
    damaged();
  }
  std::int64_t integer() {
    skip();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) damaged();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept('L');  // written by Python 2
    return value;
  }
  // A list (structured dtype), skipped with balanced brackets; strings may hold brackets.
  std::string list() {
    const std::string_view start = rest_;
    int depth = 0;
    do {
      skip();
      if (rest_.empty()) damaged();
      const char c = rest_.front();
      if (c == '\'' || c == '"') {
        string();
        continue;
      }
      depth += c == '[' || c == '(';
      depth -= c == ']' || c == ')';
      rest_.remove_prefix(1);
    } while (depth > 0);
    return std::string(start.substr(0, start.size() - rest_.size()));
  }
  bool at(char c) {
    skip();
    return !rest_.empty() && rest_.front() == c;
  }

 private:
  std::string_view rest_;
  const std::string& place_;
};

void parse_descr(NpyHeader& h, Reader& reader) {
  if (reader.at('[')) {
    h.kind = 'R';
    h.descr = reader.list();
    return;
  }
  h.descr = reader.string();
  std::string_view d = h.descr;
  if (!d.empty() && (d.front() == '<' || d.front() == '>' || d.front() == '|' || d.front() == '=')) {
    h.order = d.front() == '=' ? '<' : d.front();
    d.remove_prefix(1);
  }
  if (d.empty()) reader.damaged();
  h.kind = d.front();
  d.remove_prefix(1);
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(d.data(), d.data() + d.size(), size);
  if (error != std::errc() && h.kind != 'O') reader.damaged();
  h.size = size;
}

Extents parse_shape(Reader& reader) {
  Extents shape;
  reader.expect('(');
  while (!reader.accept(')')) {
    shape.push_back(reader.integer());
    if (!reader.accept(',') && !reader.at(')')) reader.damaged();
  }
  return shape;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& place) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.substr(0, 6) != std::string_view("\x93NUMPY", 6))
    throw Error("cannot read `" + place + "`: it is no .npy file" + (text.empty() ? " (it is empty)" : ""));
  if (text.size() < 10) throw Error("cannot read `" + place + "`: it is cut short inside the header");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(text[i])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) throw Error("cannot read `" + place + "`: .npy version " + std::to_string(version) + " is not known");
  const std::size_t begin = version == 1 ? 10 : 12;
  if (text.size() < begin) throw Error("cannot read `" + place + "`: it is cut short inside the header");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (text.size() - begin < length) throw Error("cannot read `" + place + "`: it is cut short inside the header");

  NpyHeader h;
  h.data = begin + length;
  Reader reader(text.substr(begin, length), place);
  bool has_descr = false, has_order = false, has_shape = false;
  reader.expect('{');
  while (!reader.accept('}')) {
    const std::string key = reader.string();
    reader.expect(':');
    if (key == "descr") {
      parse_descr(h, reader);
      has_descr = true;
    } else if (key == "fortran_order") {
      h.fortran_order = reader.boolean();
      has_order = true;
    } else if (key == "shape") {
      h.shape = parse_shape(reader);
      has_shape = true;
    } else {
      reader.damaged();
    }
    if (!reader.accept(',') && !reader.at('}')) reader.damaged();
  }
  if (!has_descr || !has_order || !has_shape) reader.damaged();
  return h;
}

}  // namespace erx
