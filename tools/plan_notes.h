// What a plan file says beyond the search: memory, kernels and collectives of the program it leads
// to.
#ifndef YUBA_TOOLS_PLAN_NOTES_H_
#define YUBA_TOOLS_PLAN_NOTES_H_

#include "compiler/model.h"
#include "search/file/plan_file.h"

namespace yuba::tools {

void AddProgramNotes(const compiler::Model& model, const search::Plan& plan,
                     search::PlanNotes& notes);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PLAN_NOTES_H_
