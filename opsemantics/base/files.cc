#include "opsemantics/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "opsemantics/base/status.h"

namespace yuba {
namespace {

absl::Status FileError(const std::string& path, const char* what, int error) {
  return UserError(path, ": cannot be ", what, ": ", std::strerror(error));
}

absl::Status WriteAll(int file, const std::string& path, absl::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return FileError(path, "written", errno);
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteAndClose(int file, const std::string& path, absl::string_view contents) {
  absl::Status status = WriteAll(file, path, contents);
  if (::close(file) != 0 && status.ok()) status = FileError(path, "written", errno);
  return status;
}

}  // namespace

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string WithExtension(const std::string& path, const std::string& extension) {
  const size_t slash = path.find_last_of('/');
  const size_t dot = path.find_last_of('.');
  const bool has_dot = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return (has_dot ? path.substr(0, dot) : path) + extension;
}

bool SameFile(const std::string& a, const std::string& b) {
  struct stat facts_a, facts_b;
  return ::stat(a.c_str(), &facts_a) == 0 && ::stat(b.c_str(), &facts_b) == 0 &&
         facts_a.st_dev == facts_b.st_dev && facts_a.st_ino == facts_b.st_ino;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return FileError(path, "read", errno);
  if (S_ISDIR(facts.st_mode)) return FileError(path, "read", EISDIR);
  if (S_ISCHR(facts.st_mode)) return UserError(path, ": is a device, not a file: name a file");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return FileError(path, "read", errno);
  std::string contents;
  char block[1 << 16];
  while (true) {
    const ssize_t count = ::read(file, block, sizeof(block));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      ::close(file);
      return FileError(path, "read", error);
    }
    if (count == 0) break;
    contents.append(block, static_cast<size_t>(count));
  }
  ::close(file);
  return contents;
}

absl::Status WriteFile(const std::string& path, absl::string_view contents) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return FileError(path, "written", errno);
    return WriteAndClose(file, path, contents);
  }
  // A link stays one: the file that it leads to is replaced.
  char* const real = ::realpath(path.c_str(), nullptr);
  const std::string target = real == nullptr ? path : real;
  std::free(real);
  std::string temporary = target + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return FileError(path, "written", errno);
  ::fchmod(file, 0644);
  absl::Status status = WriteAndClose(file, path, contents);
  if (status.ok() && ::rename(temporary.c_str(), target.c_str()) != 0) {
    status = FileError(path, "written", errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace yuba
