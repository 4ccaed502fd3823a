// Whether a program can be read at all: the one check of the message, for the compiler between its
// phases and for the runtime before it loads one. It asks that
// - the mesh has 1 to kMostDevices devices;
// - indices into tables (buffers, functions, axes) are within them, enumerations known;
// - every bound is a table over the mesh, boxes have the rank of their tensor, and the box of a
//   buffer is within its tensor on every device;
// - kernels have a range for each index of their function, and exchanges two sides of one tensor;
// - inputs and parameters have different names, outputs too, and as many elements as their buffers.
// It does not ask for arena offsets, code or library calls, which later phases add (validate.h
// does).
#ifndef YUBA_RUNTIME_PROGRAM_WELL_FORMED_H_
#define YUBA_RUNTIME_PROGRAM_WELL_FORMED_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// OK, or an InvalidArgument that names the first place that is wrong: "instruction 2 (y): no buffer
// 17".
absl::Status CheckWellFormed(const Program& program);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_WELL_FORMED_H_
