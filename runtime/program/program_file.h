// Programs in files: one line "yuba-program/1 LENGTH CHECKSUM", then LENGTH bytes of a serialized
// program::Program. The checksum is zlib's CRC-32 and Adler-32 of these bytes, 64 bits together.
// Validation (validate.h) cannot see what is wrong inside generated code; this can.
#ifndef YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_
#define YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

// The contents of the file. An error where the program is larger than 2 GiB.
absl::StatusOr<std::string> FormatProgram(const program::Program& program);

// Read twice in blocks: a large program is never held twice, and no damaged one is parsed. A file
// that is no program, is cut short, has more bytes or differs in any bit from what FormatProgram
// gave is an error that names it. What is read is not yet validated.
absl::StatusOr<program::Program> ReadProgramFile(const std::string& path);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_
