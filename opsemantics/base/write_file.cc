// The writing half of files.h.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/string_view.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

absl::Status WriteError(const std::string& path, int error) {
  return UserError(path, ": cannot be written: ", std::strerror(error));
}

absl::Status WriteAll(int file, const std::string& path, absl::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return WriteError(path, errno);
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

bool IsZeros(absl::string_view bytes) {
  return !bytes.empty() && bytes[0] == '\0' &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

// Writes what `make` gives and closes the file. In a regular file pieces of zeros become holes,
// which read as zeros.
absl::Status WriteAndClose(UniqueFd file, const std::string& path, bool holes,
                           const std::function<absl::Status(const WritePiece&)>& make) {
  off_t size = 0;
  const WritePiece write = [&](absl::string_view piece) {
    size += static_cast<off_t>(piece.size());
    if (!holes || !IsZeros(piece)) return WriteAll(file.get(), path, piece);
    const bool moved = ::lseek(file.get(), size, SEEK_SET) == size;
    return moved ? absl::OkStatus() : WriteError(path, errno);
  };
  YUBA_RETURN_IF_ERROR(make(write));
  if (holes && ::ftruncate(file.get(), size) != 0) return WriteError(path, errno);
  // Closing tells of what could not be written too.
  return ::close(file.Release()) == 0 ? absl::OkStatus() : WriteError(path, errno);
}

// Whether `path` is a link to something that no path names: to a file that is gone, or to one that
// is open but deleted.
bool LeadsNowhere(const std::string& path) {
  struct stat facts;
  char* const real = ::realpath(path.c_str(), nullptr);
  std::free(real);
  return real == nullptr && ::lstat(path.c_str(), &facts) == 0;
}

// The file that `path` leads to, through links; `path` itself where there is none yet.
std::string TargetOf(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  const std::string target = real == nullptr ? path : real;
  std::free(real);
  return target;
}

// Creates a file in the folder of `target` under a name of its own, which is put into `name`. No
// file is open in the result where none can be created.
UniqueFd MakeBeside(const std::string& target, std::string* name) {
  *name = target.substr(0, target.find_last_of('/') + 1) + ".yuba.XXXXXX";
  return UniqueFd(::mkostemp(name->data(), O_CLOEXEC));
}

// Whether `path`, which is no regular file, takes bytes and does nothing else with them.
bool TakesBytes(const std::string& path, const struct stat& facts) {
  // A pipe that is open already, as /dev/stdout or >(command). A pipe with a name is refused: to
  // open it would wait for its reader.
  if (S_ISFIFO(facts.st_mode)) return LeadsNowhere(path);
  if (!S_ISCHR(facts.st_mode)) return false;
  constexpr unsigned kMemory = 1, kNull = 3, kZero = 5, kFull = 7;
  const unsigned number = minor(facts.st_rdev);
  if (major(facts.st_rdev) == kMemory) return number == kNull || number == kZero || number == kFull;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return file.get() >= 0 && ::isatty(file.get()) == 1;
}

const char* KindOf(const struct stat& facts) {
  if (S_ISFIFO(facts.st_mode)) return "pipe";
  return S_ISSOCK(facts.st_mode) ? "socket" : "device";
}

}  // namespace

absl::Status CheckOutput(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  if (path == "-") return UserError("-: outputs are files: name one, or /dev/stdout");
  if (WasRead(path)) {
    return UserError(path,
                     ": is read by this command and would be overwritten; name another output");
  }
  struct stat facts;
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return WriteError(path, EISDIR);
  if (exists && !S_ISREG(facts.st_mode)) {
    if (!TakesBytes(path, facts))
      return UserError(path, ": is a ", KindOf(facts), ", not a file: name a file");
    return ::access(path.c_str(), W_OK) == 0 ? absl::OkStatus() : WriteError(path, errno);
  }
  if (LeadsNowhere(path)) {
    return UserError(path, ": is a link that leads to no file: name the file itself");
  }
  const std::string target = TargetOf(path);
  std::string created = target;
  // Where the name is free it is tried itself: it may be too long, or the folder may allow some
  // names only.
  const bool is_new = ::lstat(target.c_str(), &facts) != 0;
  const UniqueFd file =
      is_new ? UniqueFd(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600))
             : MakeBeside(target, &created);
  if (file.get() < 0) return WriteError(path, errno);
  ::unlink(created.c_str());
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return UserError(path, ": cannot be made: ", error.message());
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, absl::string_view contents) {
  return WriteFileInPieces(path, [&](const WritePiece& write) { return write(contents); });
}

absl::Status WriteFileInPieces(const std::string& path,
                               const std::function<absl::Status(const WritePiece&)>& make) {
  YUBA_RETURN_IF_ERROR(CheckOutput(path));
  struct stat facts;
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return WriteError(path, errno);
    ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
    return WriteAndClose(std::move(file), path, false, make);
  }
  // A link stays a link: the file that it leads to is replaced.
  const std::string target = TargetOf(path);
  std::string temporary;
  UniqueFd file = MakeBeside(target, &temporary);
  if (file.get() < 0) return WriteError(path, errno);
  ::fchmod(file.get(), 0644);
  absl::Status status = WriteAndClose(std::move(file), path, true, make);
  if (status.ok() && ::rename(temporary.c_str(), target.c_str()) != 0) {
    status = WriteError(path, errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace yuba
