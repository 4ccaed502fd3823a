// A program's entry on a machine as a list of steps (steps.h).
#ifndef YUBA_RUNTIME_MODEL_MAKE_STEPS_H_
#define YUBA_RUNTIME_MODEL_MAKE_STEPS_H_

#include "runtime/model/policy.h"
#include "runtime/model/steps.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// The instructions of entry number `entry`. The program says its work and is for at most
// machine.devices() devices. With `classes` devices that do the same are one class, else each is
// one for itself, which is as true and takes longer.
StepList MakeSteps(const LoadedProgram& program, int entry, const Machine& machine,
                   const RunPolicy& policy, bool classes = true);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_MAKE_STEPS_H_
