#include "compiler/search_within.h"

#include "compiler/lower/lower.h"

namespace yuba {

int64_t ArenaBytes(const Model& model, const Plan& plan) {
  program::Program program = CutGraph(model, plan);
  PlanMemory(program);
  return program.stages(0).arena_size();
}

absl::StatusOr<Plan> SearchWithinMemory(const Model& model, const SearchOptions& options) {
  SearchOptions within = options;
  if (options.memory_limit > 0) {
    within.memory_of = [&](const Plan& plan) { return ArenaBytes(model, plan); };
  }
  return Search(model.graph, within);
}

}  // namespace yuba
