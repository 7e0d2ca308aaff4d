#include "bindings/npz.hpp"

#include <zip.h>

#include <algorithm>
#include <memory>

#include "bindings/readers.hpp"
#include "ir/error.hpp"

namespace erx {
namespace {

struct Discard {
  void operator()(zip_t* z) const { zip_discard(z); }
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Entry = std::unique_ptr<zip_file_t, Discard>;

[[noreturn]] void fail(const std::string& doing, const std::string& path, const std::string& why) {
  throw Error("cannot " + doing + " `" + path + "`: " + why);
}

Archive open(const std::string& doing, const std::string& shown, const std::string& path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = code == ZIP_ER_NOZIP ? "it is no .npz file" : zip_error_strerror(&error);
  zip_error_fini(&error);
  fail(doing, shown, why);
}

constexpr std::string_view suffix = ".npy";

std::string array_name(std::string_view entry) {
  return std::string(entry.substr(0, entry.size() - suffix.size()));
}

std::vector<std::string> names_of(zip_t* archive) {
  std::vector<std::string> names;
  const zip_int64_t n = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < n; ++i) {
    const char* entry = zip_get_name(archive, static_cast<zip_uint64_t>(i), 0);
    if (entry && std::string_view(entry).ends_with(suffix)) names.push_back(array_name(entry));
  }
  return names;
}

}  // namespace

std::vector<std::string> npz_names(const std::string& path) { return names_of(open("read", path, path, ZIP_RDONLY).get()); }

Tensor read_npz_array(const std::string& path, const std::string& name, const Reading& reading) {
  const Archive archive = open("read", path, path, ZIP_RDONLY);
  const std::string entry = name + std::string(suffix);
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat(archive.get(), entry.c_str(), 0, &status) != 0) {
    const auto names = names_of(archive.get());
    std::string known;
    for (const auto& n : names) known += (known.empty() ? "" : ", ") + n;
    const std::string near = did_you_mean(name, names);
    fail("read", path, "it holds no array `" + name + "`" + (near.empty() ? "" : "; did you mean `" + near + "`?") +
                           (known.empty() ? " (it holds none)" : " (it holds " + known + ")"));
  }
  const Entry file(zip_fopen(archive.get(), entry.c_str(), 0));
  if (!file) fail("read", reading.place, zip_strerror(archive.get()));
  auto bytes = std::make_shared<std::vector<std::byte>>();
  // The size in the directory may lie; only what is read counts.
  constexpr std::size_t block = std::size_t{1} << 20;
  std::size_t filled = 0;
  for (;;) {
    bytes->resize(std::max(filled + block, std::min<std::size_t>(status.size + 1, 2 * filled + block)));
    const zip_int64_t n = zip_fread(file.get(), bytes->data() + filled, bytes->size() - filled);
    if (n < 0) fail("read", reading.place, zip_file_strerror(file.get()));  // a wrong checksum too
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  bytes->resize(filled);
  return decode_npy(std::move(bytes), reading);
}

void write_npz(const std::string& path, const std::vector<NamedArray>& arrays) {
  Replacement replacement(path);
  std::vector<std::string> contents;  // libzip reads them when the archive is closed
  contents.reserve(arrays.size());
  Archive archive = open("write", path, replacement.temporary(), ZIP_CREATE | ZIP_EXCL);
  for (const auto& array : arrays) {
    contents.push_back(encode_npy(array.tensor));
    zip_source_t* source = zip_source_buffer(archive.get(), contents.back().data(), contents.back().size(), 0);
    if (!source) fail("write", path, zip_strerror(archive.get()));
    const zip_int64_t i = zip_file_add(archive.get(), (array.name + std::string(suffix)).c_str(), source, ZIP_FL_ENC_UTF_8);
    if (i < 0) {
      zip_source_free(source);
      fail("write", path, zip_strerror(archive.get()));
    }
    const auto index = static_cast<zip_uint64_t>(i);
    zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0);
    zip_file_set_mtime(archive.get(), index, 315619200, 0);  // 1980-01-02: the same sets give the same file
  }
  if (zip_close(archive.get()) != 0) fail("write", path, zip_strerror(archive.get()));
  archive.release();
  replacement.commit();
}

}  // namespace erx
