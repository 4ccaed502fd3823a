// The proof that buffers do not disturb each other in memory.
//
// What it establishes, after PlanMemory: each slot lies in the arena and is large enough for the
// box of every device; each instruction uses buffers only while they live; stored buffers and
// outputs live throughout; two buffers that live at one time share no byte. It compares all pairs.
//
// What it does not assume: how lives and offsets were found; any well-formed program may come in.
//
// What it relies on: the bytes of an element (spmd/tables.h).
//
// What it does not establish: that the arena is small, that offsets are aligned, or that a kernel
// stays within its buffers (its boxes do, by coverage.h; its code is generated from them).
#ifndef YUBA_COMPILER_VERIFY_CHECK_MEMORY_H_
#define YUBA_COMPILER_VERIFY_CHECK_MEMORY_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// OK, or a FailedPrecondition that names the buffer, and what is wrong with it.
absl::Status CheckMemory(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_CHECK_MEMORY_H_
