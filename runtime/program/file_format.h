// What the two halves of program_file.h share: the first and last line, and where values lie.
#ifndef YUBA_RUNTIME_PROGRAM_FILE_FORMAT_H_
#define YUBA_RUNTIME_PROGRAM_FILE_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "runtime/program/checksum.h"

namespace yuba::runtime {

constexpr absl::string_view kFirstLine = "yuba-program/5\n";
constexpr int64_t kValueAlignment = 4096;  // bytes: a page, and a block of most file systems
constexpr int64_t kPiece = 1 << 20;        // bytes that are copied at a time

// The last line of a file whose message has this checksum.
inline std::string LastLine(const Checksum& message) {
  return absl::StrFormat("%016x %016x\n", message.length(), message.value());
}

// The next place for a value from byte `end` on.
inline int64_t AlignedFrom(int64_t end) {
  return (end + kValueAlignment - 1) / kValueAlignment * kValueAlignment;
}

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_FILE_FORMAT_H_
