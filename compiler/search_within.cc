#include "compiler/search_within.h"

#include "compiler/memory/memory.h"
#include "compiler/model.h"
#include "compiler/spmd/spmd.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

int64_t ArenaBytes(const Model& model, const search::Plan& plan) {
  program::Program program = MakeSpmdProgram(model, plan);
  PlanMemory(program, plan.space.memory);
  return program.stages(0).arena_size();
}

search::SearchOptions MeasuredBy(const Model& model, search::SearchOptions options) {
  if (options.memory_limit > 0) {
    options.memory_of = [&model](const search::Plan& plan) { return ArenaBytes(model, plan); };
  }
  return options;
}

absl::StatusOr<search::Plan> SearchWithinMemory(const Model& model,
                                                const search::SearchOptions& options) {
  return search::Search(model.graph, MeasuredBy(model, options));
}

}  // namespace yuba::compiler
