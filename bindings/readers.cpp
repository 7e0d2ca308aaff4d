#include "bindings/readers.hpp"

#include "bindings/npy.hpp"
#include "bindings/npz.hpp"
#include "bindings/safetensors.hpp"
#include "eval/number_text.hpp"
#include "ir/error.hpp"

namespace erx {
namespace {

struct Archive {
  std::string_view suffix;
  std::vector<std::string> (*names)(const std::string& path);
  Tensor (*read)(const std::string& path, const std::string& name, const Reading&);
};

constexpr Archive archives[] = {
    {".npz", npz_names, read_npz_array},
    {".safetensors", safetensors_names, read_safetensor},
};

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

Tensor read_only_array(const Archive& archive, const std::string& path, Reading reading) {
  const auto names = archive.names(path);
  if (names.size() != 1)
    throw Error("`" + path + "` holds " + counted(static_cast<std::int64_t>(names.size()), "array") +
                (names.empty() ? "" : " (" + list(names) + "); name one of them: " + path + ":" + names.front()));
  reading.place = path + ":" + names.front();
  return archive.read(path, names.front(), reading);
}

}  // namespace

Tensor read_tensor(const std::string& place, const std::optional<Type>& declared) {
  std::string path = place;
  Reading reading{place, declared, false};
  if (const auto colon = path.find(':'); colon != std::string::npos) {
    const std::string prefix = path.substr(0, colon);
    const Format* format = find_format(prefix);
    if (prefix == "bits" || format) {
      reading.bits = true;
      if (format) reading.declared = Type::of(*format);
      reading.place = path = path.substr(colon + 1);
    }
  }
  for (const Archive& archive : archives) {
    if (const auto at = path.rfind(std::string(archive.suffix) + ":"); at != std::string::npos) {
      const std::size_t end = at + archive.suffix.size();
      return archive.read(path.substr(0, end), path.substr(end + 1), reading);
    }
    if (path.ends_with(archive.suffix)) return read_only_array(archive, path, reading);
  }
  return decode_npy(read_file(path), reading);
}

std::map<std::string, Tensor> read_npz(const std::string& path, const std::map<std::string, Type>& declared) {
  std::map<std::string, Tensor> arrays;
  for (const Archive& archive : archives) {
    if (!path.ends_with(archive.suffix)) continue;
    for (const auto& name : archive.names(path)) {
      const auto type = declared.find(name);
      arrays[name] = archive.read(path, name, {path + ":" + name, type == declared.end() ? std::nullopt : std::optional(type->second), false});
    }
  }
  return arrays;
}

std::string describe(const Tensor& t) {
  if (t.type.is_real() && t.extents.empty() && t.is_complex()) return "a complex number";
  if (t.storage == Storage::rational) return "the number " + t.text;
  if (t.type.is_real() && t.extents.empty()) return "the number " + number_text(t.at(0));
  std::string name = to_string(t.type);
  if (t.is_complex() && t.type.is_floating())
    name = "complex" + std::to_string(2 * t.type.format.width());
  else if (t.type.is_floating())
    for (const auto& alias : format_aliases(t.type.format))
      if (alias.starts_with("float") || alias.starts_with("bfloat")) {
        name = alias;
        break;
      }
  if (t.type.is_integer() && t.type.bits) name = (t.type.is_signed ? "int" : "uint") + std::to_string(t.type.bits);
  std::string shape;
  for (std::size_t k = 0; k < t.extents.size(); ++k) shape += (k ? ", " : "") + std::to_string(t.extents[k]);
  if (t.extents.size() == 1) shape += ",";
  const bool vowel = name.starts_with("int") || name.starts_with("i");
  return std::string(vowel ? "an " : "a ") + name + " array of shape (" + shape + ")";
}

}  // namespace erx
