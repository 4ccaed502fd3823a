// How an opaque definition is called in a program: the function's name and, for each dimension of
// each tensor, the index that runs along it. Ranges and addresses are no part of it: the runtime
// takes them from the kernel instruction.
#ifndef YUBA_COMPILER_KERNELS_OPAQUE_CALLS_H_
#define YUBA_COMPILER_KERNELS_OPAQUE_CALLS_H_

#include "opsemantics/definition/definition.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// `definition` is opaque and well-formed (opsemantics/definition/opaque.h).
program::OpaqueCalls OpaqueCallsFor(const Definition& definition);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_OPAQUE_CALLS_H_
