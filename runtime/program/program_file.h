// Programs in files: the line "yuba-program/5", large values, a serialized program::Program, and
// a last line with the LENGTH of this message and its CHECKSUM (checksum.h), both in hexadecimal.
// Generated code is run as it is and validation (validate.h) cannot look into it, so a damaged file
// must be found here.
//
// Values of more than 4096 bytes are not in the message, which therefore stays far below the 2 GiB
// that protobuf reads. Each has a reference to where it lies in the file, with a checksum of its
// own, which is compared when devices get the value: so no value is read twice. Values begin at
// multiples of 4096 bytes, with zeros between them. Or they stay in the files where they are.
//
//   first line, zeros   w1 (6000 bytes)   zeros            w2 (8192 bytes)   message, last line
//   0 .......... 4096   4096 .... 10096   10096 .. 12288   12288 ... 20480   20480 ...
#ifndef YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_
#define YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

// What becomes of the values that the program refers to in other files.
enum class FileValues {
  kCopy,       // they are copied into the program's file, which can then be moved anywhere
  kReference,  // they stay: the program holds the absolute paths of these files, and their sizes
};

// Writes the program to the file `path` and returns its size in bytes. Values are copied in pieces,
// none is held in memory. Fails as WriteFile does (opsemantics/base/files.h); also a user's error
// where a file of a value is missing or has changed.
absl::StatusOr<int64_t> WriteProgramFile(const program::Program& program, FileValues values,
                                         const std::string& path);

// The program in the file `path`, not yet validated. Its references lead to files, those to its own
// file too. A pipe is an error. An error that names the file also where it is no program, is cut
// short, has more bytes, or differs in any bit from what WriteProgramFile wrote, except in its
// large values: these are read, and compared with their checksums, when a session is opened.
absl::StatusOr<program::Program> ReadProgramFile(const std::string& path);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_PROGRAM_FILE_H_
