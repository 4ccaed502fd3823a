// Where the elements of a whole tensor come from: memory, a file in which they stay, or a
// distribution (drawn_source.h). They are read in pieces, in order.
#ifndef YUBA_RUNTIME_VALUE_SOURCE_H_
#define YUBA_RUNTIME_VALUE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/base/file_range.h"
#include "runtime/program/checksum.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

class ValueSource {
 public:
  virtual ~ValueSource() = default;

  // The next `count` bytes, of those that are left. They are valid until the next call.
  virtual absl::StatusOr<absl::string_view> Next(int64_t count) = 0;
  // Passes over them, which nobody needs: without reading them, where that can be.
  virtual absl::Status Skip(int64_t count) { return Next(count).status(); }
};

// Of `bytes`, which must stay.
class MemorySource : public ValueSource {
 public:
  explicit MemorySource(absl::string_view bytes) : left_(bytes) {}
  absl::StatusOr<absl::string_view> Next(int64_t count) override;

 private:
  absl::string_view left_;
};

// Of a range of a file. It holds as many bytes as one piece has.
class FileSource : public ValueSource {
 public:
  // Opens the file; fails as RangeReader::Open does. Where `checksum` is not 0, the piece that ends
  // the range is an error, which names the file, if the bytes have another one (checksum.h).
  static absl::StatusOr<std::unique_ptr<FileSource>> Open(const FileRange& range,
                                                          uint64_t checksum);
  absl::StatusOr<absl::string_view> Next(int64_t count) override;
  absl::Status Skip(int64_t count) override;  // reads them where a checksum needs them

 private:
  FileSource(RangeReader reader, std::string file, uint64_t checksum)
      : reader_(std::move(reader)), file_(std::move(file)), expected_(checksum) {}

  const RangeReader reader_;
  const std::string file_;
  const uint64_t expected_;
  Checksum checksum_;
  int64_t at_ = 0;
  std::string piece_;
};

// The value that the initializer holds, refers to or draws, of elements of its buffer's type; null
// where it does none of these.
absl::StatusOr<std::unique_ptr<ValueSource>> SourceOf(const program::Initializer& initializer,
                                                      ElementType type);

// Looks at the files of all values that the program refers to, before memory is taken for them. A
// user's error, which names parameter and file, where one is missing or has another size.
absl::Status CheckValueFiles(const program::Program& program);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_VALUE_SOURCE_H_
