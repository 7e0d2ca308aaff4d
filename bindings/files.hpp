// Whole files: read into memory, and written whole or not at all (a temporary file beside the target, then a rename).
//   auto bytes = read_file("a.npy");    write_file("report.json", text);
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace erx {

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

/// errors: Error naming the file and the system's reason.
Bytes read_file(const std::string& path);
void write_file(const std::string& path, std::string_view contents);

/// A name for a temporary file beside `path`, and its move into place; on an Error nothing stays behind.
class Replacement {
 public:
  explicit Replacement(const std::string& path);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  const std::string& temporary() const { return temporary_; }
  void commit();  // errors: Error

 private:
  std::string path_, temporary_;
  bool committed_ = false;
};

}  // namespace erx
