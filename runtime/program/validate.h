// What a program must satisfy before anything of it is run, besides being well-formed
// (well_formed.h): that it is complete, and what its boxes and slots are on every device.
#ifndef YUBA_RUNTIME_PROGRAM_VALIDATE_H_
#define YUBA_RUNTIME_PROGRAM_VALIDATE_H_

#include "absl/status/statusor.h"
#include "opsemantics/base/box.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

class LoadedProgram;

// Boxes within buffers, buffers within the arena, library calls whose indices fit their operands,
// ports and initial values of the right size; on every device.
absl::Status ValidateContent(const LoadedProgram& program);

// A library call's roles are possible: which index runs along which dimension of which tensor.
absl::Status ValidateLibraryRoles(const program::LibraryCall& call);

// The positions of a dimension of `extent` that a window reads. Outside the tensor is padding, so
// that strides and dilations may leave out the first or last positions, and a part may read none.
Interval WindowReads(const program::LibraryWindow& window, int64_t extent, const Interval& output,
                     const Interval& taps);

// On one device: what the call reads and writes is within the buffers' boxes.
absl::Status ValidateLibraryBoxes(const LoadedProgram& program, const program::Kernel& kernel,
                                  int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_VALIDATE_H_
