// How long a plan's program takes on the plan's machine: the program is made without code, and the
// model of the machine runs it (runtime/model).
//
// Example, of a plan for a machine:
//   const absl::StatusOr<int64_t> step = PredictedStep(model, plan);   // nanoseconds
#ifndef YUBA_TOOLS_PROGRAM_PREDICT_PLAN_H_
#define YUBA_TOOLS_PROGRAM_PREDICT_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/model.h"
#include "opsemantics/machine/machine.h"
#include "runtime/program/program.pb.h"
#include "search/file/plan_file.h"
#include "search/plan/plan.h"

namespace yuba::tools {

// The kernels of programs for this machine, which are not generated: the host's where it is null.
kernels::KernelChoice KernelsWithoutCode(const Machine* machine);

// A run of each entry but `init`. `program` has the kernels of KernelsWithoutCode. Errors are those
// of PredictEntry (runtime/model/predict.h).
absl::StatusOr<std::vector<search::PredictedRun>> PredictRuns(program::Program program,
                                                              const Machine& machine);

// Nanoseconds of a step of the plan, whose objective must have a machine, as `yuba run` runs it
// today: of all entries, each as often as it runs. An error where the program cannot be made for
// the machine, or not be predicted.
absl::StatusOr<int64_t> PredictedStep(const compiler::Model& model, const search::Plan& plan);

// What PredictedStep says, of runs that are predicted already.
int64_t StepOf(const Graph& graph, const std::vector<search::PredictedRun>& runs);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PROGRAM_PREDICT_PLAN_H_
