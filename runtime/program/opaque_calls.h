// The calls of an opaque function on one device: which of a kernel's indices number them, and what
// the function gets. Shared by the validator and the host.
//
// Example: at[i, p] = opaque argsort(j: 8) x[i, j] on a device that runs i over [2, 4) makes two
// calls, of a slice of x and a slice of `at` of 8 elements each.
#ifndef YUBA_RUNTIME_PROGRAM_OPAQUE_CALLS_H_
#define YUBA_RUNTIME_PROGRAM_OPAQUE_CALLS_H_

#include <vector>

#include "opsemantics/opaque/opaque_function.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// [index of the function]: whether calls are numbered along it: the result and an argument have it.
// Along all others slices are whole. The indices named are those of the function.
std::vector<bool> CallIndices(const program::Function& function);

// What the function of `kernel` gets: slices of whole extents, in the types of the buffers.
OpaqueSignature SignatureOf(const LoadedProgram& program, const program::Kernel& kernel);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_OPAQUE_CALLS_H_
