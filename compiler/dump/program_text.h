// A program as text (README.md).
#ifndef YUBA_COMPILER_DUMP_PROGRAM_TEXT_H_
#define YUBA_COMPILER_DUMP_PROGRAM_TEXT_H_

#include <string>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Every field of program.proto that is set, by its name there: it is written from the message's own
// description, so that a new field needs nothing here. Boxes and bounds are short:
//   buffers 0 (name "x", type F32, dims [12, 48], box [a(0 6):a(6 12), 0:48], offset 0, size 1152)
std::string ProgramText(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_PROGRAM_TEXT_H_
