// What a plan file says beyond the search: memory, kernels and collectives of the program that the
// plan becomes. `partition` writes these notes, `check` compares them.
#ifndef YUBA_TOOLS_PLAN_NOTES_H_
#define YUBA_TOOLS_PLAN_NOTES_H_

#include "compiler/model.h"
#include "search/file/plan_file.h"

namespace yuba::tools {

// Lowers the plan as the compiler does, without generating code, and fills in notes.memory
// [device], notes.kernels [node] and notes.collectives [transfer, in the order of MovesOf].
void AddProgramNotes(const compiler::Model& model, const search::Plan& plan,
                     search::PlanNotes& notes);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PLAN_NOTES_H_
