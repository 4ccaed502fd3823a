#include "compiler/search_within.h"

#include "compiler/memory/memory.h"
#include "compiler/model.h"
#include "compiler/spmd/spmd.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"

namespace yuba {

int64_t ArenaBytes(const Model& model, const Plan& plan) {
  program::Program program = CutGraph(model, plan);
  PlanMemory(program, plan.space.memory);
  return program.stages(0).arena_size();
}

SearchOptions MeasuredBy(const Model& model, SearchOptions options) {
  if (options.memory_limit > 0) {
    options.memory_of = [&model](const Plan& plan) { return ArenaBytes(model, plan); };
  }
  return options;
}

absl::StatusOr<Plan> SearchWithinMemory(const Model& model, const SearchOptions& options) {
  return Search(model.graph, MeasuredBy(model, options));
}

}  // namespace yuba
