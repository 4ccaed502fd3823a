// With a stream for kernels and one for exchanges: which steps of the one wait for which of the
// other, because they touch the same memory.
#ifndef YUBA_RUNTIME_MODEL_STREAM_ORDER_H_
#define YUBA_RUNTIME_MODEL_STREAM_ORDER_H_

#include <vector>

#include "runtime/model/steps.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// Sets Step::after of each step: the last step before it of the other stream, such that one of the
// two writes bytes of the arena that the other reads or writes. Each stream runs its own steps in
// order, so all earlier ones are waited for too.
void OrderStreams(const LoadedProgram& program, std::vector<Step>& steps);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_STREAM_ORDER_H_
