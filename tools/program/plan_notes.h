// What a plan file says beyond the search: memory, kernels and collectives of the program that the
// plan becomes, and on a machine its time. `partition` writes these notes, `check` compares them.
#ifndef YUBA_TOOLS_PROGRAM_PLAN_NOTES_H_
#define YUBA_TOOLS_PROGRAM_PLAN_NOTES_H_

#include "compiler/model.h"
#include "search/file/plan_file.h"

namespace yuba::tools {

// Makes the plan's program as the compiler does, without code, for the plan's machine or else for
// the host, and fills in notes.memory [device], notes.kernels [node] and notes.collectives
// [transfer, in the order of MovesOf]; with a machine notes.predicted [entry], or
// notes.unpredicted. With `verify` each phase's result is proved; a proof that fails is Internal.
absl::Status AddProgramNotes(const compiler::Model& model, const search::Plan& plan, bool verify,
                             search::PlanNotes& notes);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PROGRAM_PLAN_NOTES_H_
