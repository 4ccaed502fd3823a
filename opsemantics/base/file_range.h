// Bytes that stay in their file until somebody needs some of them. Weights are passed on as ranges,
// so that a model of any size is planned without reading them, and copied to devices in pieces.
//
//   FileRange w{"weights.bin", 4096, 64, 1 << 20};                 // 64 bytes of a file of 1 MiB
//   YUBA_ASSIGN_OR_RETURN(const RangeReader reader, RangeReader::Open(w));
//   YUBA_RETURN_IF_ERROR(reader.Read(32, 16, bytes));              // 16 bytes from 4096 + 32
//
// Pieces are read, not mapped: a mapped file that somebody cuts short ends the process by a signal.
#ifndef YUBA_OPSEMANTICS_BASE_FILE_RANGE_H_
#define YUBA_OPSEMANTICS_BASE_FILE_RANGE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "opsemantics/base/files.h"

namespace yuba {

struct FileRange {
  std::string file;       // a path
  int64_t offset = 0;     // bytes from the file's start
  int64_t length = 0;     // bytes
  int64_t file_size = 0;  // bytes of the whole file when the range was made
};
bool operator==(const FileRange& a, const FileRange& b);

// Whether the range lies within a file of its file_size; no number of it overflows.
bool IsWithinFile(const FileRange& range);

// The size of a file in bytes. A user's error, which names it, where it cannot be read or is no
// regular file. CheckOutput (files.h) knows the file from then on.
absl::StatusOr<int64_t> SizeOfFile(const std::string& path);

// An open range. Several threads may read it at a time.
class RangeReader {
 public:
  // A user's error, which names the file, where it cannot be read, is no regular file, has another
  // size than range.file_size, or where the range is not within it.
  static absl::StatusOr<RangeReader> Open(const FileRange& range);

  int64_t length() const { return range_.length; }

  // Copies `count` bytes, from byte `begin` of the range on, to `to`; they must lie within the
  // range. A user's error, which names the file, where it ends before them or cannot be read.
  absl::Status Read(int64_t begin, int64_t count, char* to) const;

 private:
  RangeReader(FileRange range, UniqueFd file) : range_(std::move(range)), file_(std::move(file)) {}

  FileRange range_;
  UniqueFd file_;
};

// The bytes of the range, all of them. Fails as RangeReader does.
absl::StatusOr<std::string> ReadRange(const FileRange& range);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_FILE_RANGE_H_
