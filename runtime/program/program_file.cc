// The reading half of program_file.h.
#include "runtime/program/program_file.h"

#include <algorithm>
#include <climits>
#include <vector>

#include "absl/strings/numbers.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/status.h"
#include "runtime/program/file_format.h"

namespace yuba::runtime {
namespace {

class Reader {
 public:
  Reader(const RangeReader& file, std::string path) : file_(file), path_(std::move(path)) {}

  absl::StatusOr<program::Program> Read() {
    YUBA_ASSIGN_OR_RETURN(const std::string first, Bytes(0, kFirstLine.size()));
    if (first != kFirstLine) return Bad("is no program, or one of another version of yuba");
    const int64_t last = static_cast<int64_t>(LastLine(Checksum()).size());
    const int64_t message_end = file_.length() - last;
    YUBA_ASSIGN_OR_RETURN(const std::string line, Bytes(message_end, last));
    const int64_t length = LengthIn(line);
    message_begin_ = message_end - length;
    if (length < 0 || length > INT_MAX || message_begin_ < static_cast<int64_t>(first.size()))
      return Bad("its last line is missing: it was cut short or changed");
    YUBA_ASSIGN_OR_RETURN(const std::string bytes, Bytes(message_begin_, length));
    Checksum checksum;
    checksum.Add(bytes);
    if (line != LastLine(checksum))
      return Bad("its bytes do not match their checksum: it was changed or damaged");
    program::Program program;
    if (!program.ParseFromString(bytes)) return Bad("holds no program");
    YUBA_RETURN_IF_ERROR(Resolve(program));
    return program;
  }

 private:
  template <typename... Args>
  absl::Status Bad(const Args&... args) const {
    return UserError(path_, ": ", args..., "; write it again with yuba compile");
  }

  // Fewer, where the file is too short.
  absl::StatusOr<std::string> Bytes(int64_t begin, int64_t count) const {
    begin = std::max<int64_t>(begin, 0);
    count = std::max<int64_t>(std::min(count, file_.length() - begin), 0);
    std::string bytes(static_cast<size_t>(count), '\0');
    YUBA_RETURN_IF_ERROR(file_.Read(begin, count, bytes.data()));
    return bytes;
  }

  // The length that a last line of the right form gives; -1 for any other line.
  static int64_t LengthIn(absl::string_view line) {
    uint64_t length = 0;
    const bool right = line.size() == LastLine(Checksum()).size() && line.back() == '\n' &&
                       absl::SimpleHexAtoi(line.substr(0, 16), &length) && length <= INT_MAX;
    return right ? static_cast<int64_t>(length) : -1;
  }

  // Completes the references to this file, and checks that nothing but zeros is between them.
  absl::Status Resolve(program::Program& program) const {
    std::vector<std::pair<int64_t, int64_t>> values;  // begin and end
    for (program::Initializer& parameter : *program.mutable_parameters()) {
      if (!parameter.has_reference() || !parameter.reference().file().empty()) continue;
      program::Reference& reference = *parameter.mutable_reference();
      if (reference.offset() < 0 || reference.offset() > message_begin_ || reference.length() < 0 ||
          reference.length() > message_begin_ - reference.offset()) {
        return Bad("the value of ", parameter.port().name(), " is ", reference.length(),
                   " bytes from ", reference.offset(), ", and values end at ", message_begin_);
      }
      values.emplace_back(reference.offset(), reference.offset() + reference.length());
      reference.set_file(path_);
      reference.set_file_size(file_.length());
    }
    std::sort(values.begin(), values.end());
    int64_t end = static_cast<int64_t>(kFirstLine.size());
    for (const auto& [begin, next_end] : values) {
      if (begin != AlignedFrom(end)) return Bad("its values do not follow each other");
      YUBA_ASSIGN_OR_RETURN(const std::string gap, Bytes(end, begin - end));
      if (gap.find_first_not_of('\0') != std::string::npos)
        return Bad("has bytes between its values: it was changed or damaged");
      end = next_end;
    }
    if (end != message_begin_) return Bad("has bytes behind its values: it was changed");
    return absl::OkStatus();
  }

  const RangeReader& file_;
  const std::string path_;
  int64_t message_begin_ = 0;
};

}  // namespace

absl::StatusOr<program::Program> ReadProgramFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const int64_t size, SizeOfFile(path));
  YUBA_ASSIGN_OR_RETURN(const RangeReader file, RangeReader::Open({path, 0, size, size}));
  return Reader(file, path).Read();
}

}  // namespace yuba::runtime
