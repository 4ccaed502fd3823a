// The phase `streams`: a device of a target with two streams runs exchanges beside its kernels.
// Exchanges get their place among the kernels, those that begin together are marked as one group,
// and instructions say what they wait for on the other stream.
//
// An exchange that begins early, or ends late, holds memory for longer. So orders are tried from
// the one that hides most to the program's own, until the arena keeps within what there is.
#ifndef YUBA_COMPILER_STREAMS_STREAMS_H_
#define YUBA_COMPILER_STREAMS_STREAMS_H_

#include <cstdint>

#include "opsemantics/machine/machine.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Moves exchanges and gives buffers new lives and offsets (PlanMemory). `machine` is what times are
// estimated for. The arena stays within `limit`, a size in bytes, where it was within it; 0: it
// becomes at most a tenth larger. Deterministic.
void OverlapExchanges(const Machine& machine, int64_t limit, program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_STREAMS_H_
