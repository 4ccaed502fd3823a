// What a plan file says beyond the search: memory, kernels and collectives of the program it leads
// to.
#ifndef YUBA_TOOLS_PLAN_NOTES_H_
#define YUBA_TOOLS_PLAN_NOTES_H_

#include "compiler/model.h"
#include "search/file/plan_file.h"

namespace yuba {

void AddProgramNotes(const Model& model, const Plan& plan, PlanNotes& notes);

}  // namespace yuba

#endif  // YUBA_TOOLS_PLAN_NOTES_H_
