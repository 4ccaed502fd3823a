// What a program must satisfy before anything of it is run, besides being well-formed
// (well_formed.h): it is complete, and its boxes and slots are sound on every device. After both,
// exchanges, library calls and opaque functions touch only their own buffers, whatever bytes the
// file held; generated code is trusted, as any executable is. All errors are the user's and name
// the buffer, function, instruction or port that is wrong, and the device.
#ifndef YUBA_RUNTIME_PROGRAM_VALIDATE_H_
#define YUBA_RUNTIME_PROGRAM_VALIDATE_H_

#include "absl/status/statusor.h"
#include "opsemantics/base/box.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

class LoadedProgram;

// Checks that every function has code, and on every device that boxes lie within buffers and
// buffers within the arena, that the indices of library calls and opaque functions fit their
// operands, and that ports and initial values have the right size. `program` is well-formed.
absl::Status ValidateContent(const LoadedProgram& program);

// Checks that a library call's roles are possible: a row index, say, runs along a dimension of the
// left operand and of the result and along none of the right operand.
absl::Status ValidateLibraryRoles(const program::LibraryCall& call);

// Checks that, on one device, what the library call reads and writes lies within its buffers'
// boxes.
absl::Status ValidateLibraryBoxes(const LoadedProgram& program, const program::Kernel& kernel,
                                  int device);

// Checks that calls of an opaque function are of one that exists and name indices of `function`,
// each once in a tensor, all of them, and only those that are no reductions in the result.
absl::Status ValidateOpaqueIndices(const program::Function& function);

// Checks that the function takes the kernel's operands and result, and that on one device, where it
// makes any calls, the slices are whole and lie within the buffers' boxes.
absl::Status ValidateOpaqueBoxes(const LoadedProgram& program, const program::Kernel& kernel,
                                 int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_VALIDATE_H_
