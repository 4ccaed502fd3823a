#include "opsemantics/base/file_range.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tuple>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

absl::StatusOr<int64_t> SizeOf(const UniqueFd& file, const std::string& path) {
  struct stat facts;
  if (::fstat(file.get(), &facts) != 0) {
    return UserError(path, ": cannot be read: ", std::strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) return UserError(path, ": is a pipe, not a file: name a file");
  return static_cast<int64_t>(facts.st_size);
}

}  // namespace

bool operator==(const FileRange& a, const FileRange& b) {
  return std::tie(a.file, a.offset, a.length, a.file_size) ==
         std::tie(b.file, b.offset, b.length, b.file_size);
}

bool IsWithinFile(const FileRange& range) {
  return range.offset >= 0 && range.length >= 0 && range.offset <= range.file_size &&
         range.length <= range.file_size - range.offset;
}

absl::StatusOr<int64_t> SizeOfFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const UniqueFd file, OpenToRead(path));
  return SizeOf(file, path);
}

absl::StatusOr<RangeReader> RangeReader::Open(const FileRange& range) {
  YUBA_ASSIGN_OR_RETURN(UniqueFd file, OpenToRead(range.file));
  YUBA_ASSIGN_OR_RETURN(const int64_t size, SizeOf(file, range.file));
  if (size != range.file_size) {
    return UserError(range.file, ": has ", size, " bytes, not the ", range.file_size,
                     " that it had: it was cut short or replaced");
  }
  if (!IsWithinFile(range)) {
    return UserError(range.file, ": has only ", size, " bytes, ", range.length, " from ",
                     range.offset, " are asked for");
  }
  return RangeReader(range, std::move(file));
}

absl::Status RangeReader::Read(int64_t begin, int64_t count, char* to) const {
  YUBA_CHECK(begin >= 0 && count >= 0 && count <= range_.length - begin) << begin << " " << count;
  while (count > 0) {
    const ssize_t done =
        ::pread(file_.get(), to, static_cast<size_t>(count), range_.offset + begin);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return UserError(range_.file, ": cannot be read: ", std::strerror(errno));
    if (done == 0) {
      return UserError(range_.file, ": ends at byte ", range_.offset + begin, " of ",
                       range_.file_size, ": it was cut short while it was read");
    }
    begin += done;
    count -= done;
    to += done;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadRange(const FileRange& range) {
  YUBA_ASSIGN_OR_RETURN(const RangeReader reader, RangeReader::Open(range));
  std::string bytes(static_cast<size_t>(range.length), '\0');
  YUBA_RETURN_IF_ERROR(reader.Read(0, range.length, bytes.data()));
  return bytes;
}

}  // namespace yuba
