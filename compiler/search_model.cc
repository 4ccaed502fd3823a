#include "compiler/search_model.h"

#include <utility>

#include "absl/types/optional.h"
#include "compiler/memory/memory.h"
#include "compiler/phases.h"
#include "compiler/spmd/spmd.h"
#include "opsemantics/base/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

int64_t ArenaBytes(const Graph& graph, const search::Plan& plan) {
  return ArenaBytesOf(ProgramWithoutValues(graph, plan), plan);
}

int64_t ArenaBytesOf(program::Program program, const search::Plan& plan) {
  PlanMemory(program, plan.space.memory);
  return program.arena_size();
}

absl::StatusOr<search::Plan> SearchModel(search::SearchOptions options, Model& model,
                                         const StepOfPlan& step_of) {
  options.memory_of = ArenaBytes;
  absl::optional<Model> flat;
  if (step_of) {
    options.step_of = [&](const Graph& graph, const search::Plan& plan) {
      Model planned = plan.space.factors == options.factors ? model : *flat;
      planned.graph = graph;
      return step_of(planned, plan);
    };
  }
  const auto variant = [&](bool factors) -> absl::StatusOr<Graph> {
    if (factors == options.factors) return model.graph;
    if (!flat.has_value()) {
      YUBA_ASSIGN_OR_RETURN(flat, WithFactors(model, factors));
    }
    return flat->graph;
  };
  YUBA_ASSIGN_OR_RETURN(search::PlannedGraph found, search::SearchSpaces(variant, options));
  if (found.plan.space.factors != options.factors) model = *std::move(flat);
  model.graph = std::move(found.graph);
  model.notes.insert(model.notes.end(), found.remarks.begin(), found.remarks.end());
  return std::move(found.plan);
}

}  // namespace yuba::compiler
