#include "bindings/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ir/error.hpp"

namespace erx {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& place, const std::string& why) { throw Error("cannot read `" + place + "`: " + why); }

struct Dtype {
  const char* name;
  std::size_t size;
  Storage storage;
  const char* type;
};

constexpr Dtype dtypes[] = {
    {"F64", 8, Storage::f64, "f64"},           {"F32", 4, Storage::f32, "f32"},           {"F16", 2, Storage::code, "f16"},
    {"BF16", 2, Storage::code, "bf16"},        {"F8_E4M3", 1, Storage::code, "f8e4m3fn"}, {"F8_E5M2", 1, Storage::code, "f8e5m2"},
    {"F8_E8M0", 1, Storage::code, "f8e8m0fnu"}, {"BOOL", 1, Storage::boolean, "bool"},     {"I8", 1, Storage::i8, "i8"},
    {"I16", 2, Storage::i16, "i16"},           {"I32", 4, Storage::i32, "i32"},           {"I64", 8, Storage::i64, "i64"},
    {"U8", 1, Storage::u8, "u8"},              {"U16", 2, Storage::u16, "u16"},           {"U32", 4, Storage::u32, "u32"},
    {"U64", 8, Storage::u64, "u64"},           {"C64", 8, Storage::f32, "complex64"},
};

struct File {
  Bytes bytes;
  json header;
  std::size_t data;
};

File open(const std::string& path) {
  File file{read_file(path), {}, 0};
  std::uint64_t length = 0;
  if (file.bytes->size() < sizeof length) refuse(path, "it is no .safetensors file");
  std::memcpy(&length, file.bytes->data(), sizeof length);
  if (length > file.bytes->size() - sizeof length) refuse(path, "it is no .safetensors file, or it is cut short");
  const char* text = reinterpret_cast<const char*>(file.bytes->data()) + sizeof length;
  file.header = json::parse(text, text + length, nullptr, false);
  if (!file.header.is_object()) refuse(path, "it is no .safetensors file");
  file.header.erase("__metadata__");
  file.data = sizeof length + length;
  return file;
}

std::vector<std::string> names_of(const File& file) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : file.header.items()) names.push_back(name);
  return names;
}

}  // namespace

std::vector<std::string> safetensors_names(const std::string& path) { return names_of(open(path)); }

Tensor read_safetensor(const std::string& path, const std::string& name, const Reading& reading) {
  const File file = open(path);
  if (!file.header.contains(name)) {
    const std::string near = did_you_mean(name, names_of(file));
    refuse(path, "it holds no tensor `" + name + "`" + (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
  Tensor t;
  std::string dtype;
  std::size_t begin = 0, end = 0;
  try {
    const json& entry = file.header.at(name);
    dtype = entry.at("dtype").get<std::string>();
    for (const json& n : entry.at("shape")) t.extents.push_back(static_cast<std::int64_t>(n.get<std::uint64_t>()));
    begin = entry.at("data_offsets").at(0).get<std::size_t>();
    end = entry.at("data_offsets").at(1).get<std::size_t>();
  } catch (const json::exception&) {
    refuse(reading.place, "its header is damaged");
  }
  const Dtype* found = nullptr;
  for (const Dtype& d : dtypes)
    if (dtype == d.name) found = &d;
  if (!found) refuse(reading.place, "dtype " + dtype + " has no counterpart here");
  auto room = static_cast<std::int64_t>(found->size);  // an empty tensor has strides too
  for (std::int64_t n : t.extents)
    if (n < 0 || __builtin_mul_overflow(room, std::max<std::int64_t>(n, 1), &room)) refuse(reading.place, "its header is damaged");
  const std::size_t size = found->size * static_cast<std::size_t>(t.size());
  if (begin > end || end > file.bytes->size() - file.data || end - begin != size)
    refuse(reading.place, "its elements do not fill their place in the file; the file may be cut short");
  t.byte_strides = contiguous_strides(t.extents);
  for (auto& s : t.byte_strides) s *= static_cast<std::int64_t>(found->size);
  t.data = file.bytes->data() + file.data + begin;
  t.owner = file.bytes;
  t.storage = found->storage;
  const bool is_integer = dtype[0] == 'I' || dtype[0] == 'U';
  if (reading.bits && is_integer) return as_codes(std::move(t), found->size, reading);
  if (dtype == "C64") {  // pairs of floats
    if (reading.bits) refuse(reading.place, "it holds complex numbers, not bits");
    t.type = Type::of(*find_format("f32"));
    Tensor im = t;
    im.data += found->size / 2;
    return Tensor::complex(std::move(t), std::move(im));
  }
  if (const Format* format = find_format(found->type)) t.type = Type::of(*format);
  else if (const auto type = find_type(found->type)) t.type = *type;
  else t.type = Type::integer(static_cast<int>(8 * found->size), dtype[0] == 'I');
  if (reading.bits && !(reading.declared && t.type == *reading.declared)) refuse(reading.place, "it holds numbers of dtype " + dtype + ", not bits");
  return t;
}

}  // namespace erx
