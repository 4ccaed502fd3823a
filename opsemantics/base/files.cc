#include "opsemantics/base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "opsemantics/base/status.h"

namespace yuba {
namespace {

using FileId = std::pair<dev_t, ino_t>;

// What this process has read. The guard of all outputs asks it.
class FilesRead {
 public:
  static FilesRead& Get() {
    static FilesRead& files = *new FilesRead;
    return files;
  }
  void Add(const struct stat& facts) {
    const std::lock_guard<std::mutex> lock(mutex_);
    files_.insert({facts.st_dev, facts.st_ino});
  }
  bool Has(const struct stat& facts) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return files_.count({facts.st_dev, facts.st_ino}) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<FileId> files_;
};

absl::Status ReadError(const std::string& path, int error) {
  return UserError(path, ": cannot be read: ", std::strerror(error));
}

constexpr int kPatience = 1000;  // ms that a pipe may be without a writer: it may just be starting

// Whether anybody writes to the pipe, or has written something that is still in it. tee looks at
// the contents without taking them out.
bool HasWriter(int pipe) {
  struct pollfd wait = {pipe, POLLIN, 0};
  if (::poll(&wait, 1, kPatience) > 0) return true;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return true;
  const UniqueFd out(ends[0]), in(ends[1]);
  return ::tee(pipe, in.get(), 1, SPLICE_F_NONBLOCK) != 0;
}

absl::Status CheckReadable(const std::string& path, const struct stat& facts) {
  if (S_ISREG(facts.st_mode) || S_ISFIFO(facts.st_mode)) return absl::OkStatus();
  if (S_ISDIR(facts.st_mode)) return ReadError(path, EISDIR);
  return UserError(path, ": is a ", S_ISSOCK(facts.st_mode) ? "socket" : "device",
                   ", not a file: name a file");
}

// Checks a descriptor that was opened without blocking, makes it blocking and remembers its file.
absl::Status PrepareToRead(int file, const std::string& path) {
  struct stat facts;
  if (::fstat(file, &facts) != 0) return ReadError(path, errno);
  YUBA_RETURN_IF_ERROR(CheckReadable(path, facts));
  if (S_ISFIFO(facts.st_mode) && !HasWriter(file)) {
    return UserError(path, ": is a pipe that nobody writes to: name a file");
  }
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  FilesRead::Get().Add(facts);
  return absl::OkStatus();
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

bool WasRead(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0 && FilesRead::Get().Has(facts);
}

UniqueFd::~UniqueFd() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

absl::StatusOr<UniqueFd> OpenToRead(const std::string& path) {
  struct stat facts;  // first: to open a device may do something
  if (::stat(path.c_str(), &facts) != 0) return ReadError(path, errno);
  YUBA_RETURN_IF_ERROR(CheckReadable(path, facts));
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return ReadError(path, errno);
  YUBA_RETURN_IF_ERROR(PrepareToRead(file.get(), path));
  return file;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const UniqueFd file, OpenToRead(path));
  std::string contents;
  char block[1 << 16];
  while (true) {
    const ssize_t count = ::read(file.get(), block, sizeof(block));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ReadError(path, errno);
    if (count == 0) break;
    contents.append(block, static_cast<size_t>(count));
  }
  return contents;
}

}  // namespace yuba
