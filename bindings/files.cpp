#include "bindings/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ir/error.hpp"

namespace erx {
namespace {

[[noreturn]] void fail(const std::string& doing, const std::string& path) {
  const int reason = errno;
  throw Error("cannot " + doing + " `" + path + "`: " + std::strerror(reason));
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

void write_all(int file, std::string_view contents, const std::string& path) {
  while (!contents.empty()) {
    const ssize_t n = ::write(file, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path);
    contents.remove_prefix(static_cast<std::size_t>(n));
  }
}

// A device or pipe (/dev/stdout, a process substitution) is written through; only regular files can be replaced.
bool is_special(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

Bytes read_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail("read", path);
  struct stat status;
  if (::fstat(file.number, &status) != 0) fail("read", path);
  if (S_ISDIR(status.st_mode)) throw Error("cannot read `" + path + "`: it is a folder");
  auto bytes = std::make_shared<std::vector<std::byte>>();
  // One byte more than the size, so that an ordinary file ends in a single short read; pipes grow as they come.
  bytes->resize(static_cast<std::size_t>(status.st_size) + 1);
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes->size()) bytes->resize(2 * filled);
    const ssize_t n = ::read(file.number, bytes->data() + filled, bytes->size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", path);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  bytes->resize(filled);
  return bytes;
}

void write_file(const std::string& path, std::string_view contents) {
  if (is_special(path)) {
    const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (file.number < 0) fail("write", path);
    return write_all(file.number, contents, path);
  }
  Replacement replacement(path);
  {
    const Descriptor file{::open(replacement.temporary().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (file.number < 0) fail("write", path);
    write_all(file.number, contents, path);
    if (::fsync(file.number) != 0 && errno != EINVAL) fail("write", path);
  }
  replacement.commit();
}

Replacement::Replacement(const std::string& path) : path_(path) {
  // Through a symbolic link the file it points to is replaced, not the link.
  char* real = ::realpath(path.c_str(), nullptr);
  if (real) path_ = real;
  std::free(real);
  const auto slash = path_.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  temporary_ = path_.substr(0, base) + "." + path_.substr(base) + "." + std::to_string(::getpid()) + ".part";
}

Replacement::~Replacement() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void Replacement::commit() {
  struct stat status;
  // The new file keeps the permissions of the one it replaces.
  if (::stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw Error("cannot write `" + path_ + "`: it is a folder");
    ::chmod(temporary_.c_str(), status.st_mode & 07777);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("write", path_);
  committed_ = true;
}

}  // namespace erx
