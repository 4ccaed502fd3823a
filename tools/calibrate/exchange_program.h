// Programs of one collective.
#ifndef YUBA_TOOLS_CALIBRATE_EXCHANGE_PROGRAM_H_
#define YUBA_TOOLS_CALIBRATE_EXCHANGE_PROGRAM_H_

#include <cstdint>
#include <string>

#include "runtime/program/program.pb.h"

namespace yuba::tools {

// The collective of that name (opsemantics/base/collectives.h) among `devices` devices, at least 2,
// of a tensor of f32 that has `bytes` bytes, or a little more where they are no multiple of what
// the devices' equal parts need. It is one exchange, but of an all_reduce two, as the compiler
// makes them: each device adds up the partials of its part, and gathers the others' (slice owners,
// opsemantics/base/transfers.h).
program::Program ExchangeProgram(const std::string& collective, int devices, int64_t bytes);

// A program for one device on so many, each of which runs it for itself.
program::Program OnDevices(program::Program program, int devices);

// Of its tensor.
int64_t TensorBytes(const program::Program& program);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_EXCHANGE_PROGRAM_H_
