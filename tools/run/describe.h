// What a program is for and what it needs, for somebody who has got its file alone: devices and
// their memory, entries, inputs and outputs, the processor or GPU that it was compiled for,
// libraries, and values that are not in it.
#ifndef YUBA_TOOLS_RUN_DESCRIBE_H_
#define YUBA_TOOLS_RUN_DESCRIBE_H_

#include <string>

#include "runtime/program/program.h"

namespace yuba::tools {

// Lines for people.
std::string DescriptionOf(const runtime::LoadedProgram& program);

// The same as a JSON object.
std::string JsonDescriptionOf(const runtime::LoadedProgram& program);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_DESCRIBE_H_
