// What a plan file says beyond the search: memory, kernels and collectives of the program that the
// plan becomes. `partition` writes these notes, `check` compares them.
#ifndef YUBA_TOOLS_PLAN_NOTES_H_
#define YUBA_TOOLS_PLAN_NOTES_H_

#include "compiler/model.h"
#include "search/file/plan_file.h"

namespace yuba::tools {

// Makes the plan's program as the compiler does, without code, and fills in notes.memory [device],
// notes.kernels [node] and notes.collectives [transfer, in the order of MovesOf]. With `verify`
// each phase's result is proved; a proof that fails is Internal.
absl::Status AddProgramNotes(const compiler::Model& model, const search::Plan& plan, bool verify,
                             search::PlanNotes& notes);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PLAN_NOTES_H_
