// Programs in files: one line "yuba-program/1 LENGTH CHECKSUM", both in hexadecimal, then LENGTH
// bytes of a serialized program::Program. The checksum is zlib's CRC-32 and Adler-32 of these
// bytes, 64 bits together. Generated code is run as it is and validation (validate.h) cannot look
// into it, so a damaged file must be found here.
#ifndef YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_
#define YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

// The contents of the file. A user's error where the program is larger than 2 GiB, the most that
// protobuf writes.
absl::StatusOr<std::string> FormatProgram(const program::Program& program);

// The program in the file `path`, not yet validated. The file is read twice, in blocks, first for
// its checksum: so a large program is never held twice, and no damaged one is parsed. A pipe cannot
// be read twice and is an error. An error that names the file also where it is no program, is cut
// short, has more bytes, or differs in any bit from what FormatProgram gave.
absl::StatusOr<program::Program> ReadProgramFile(const std::string& path);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_
