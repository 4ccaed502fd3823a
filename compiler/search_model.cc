#include "compiler/search_model.h"

#include <utility>

#include "absl/types/optional.h"
#include "compiler/cluster/cluster.h"
#include "compiler/import/onnx.h"
#include "compiler/memory/memory.h"
#include "compiler/order/order.h"
#include "compiler/spmd/spmd.h"
#include "opsemantics/base/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

int64_t ArenaBytes(const Graph& graph, const search::Plan& plan) {
  return ArenaBytesOf(ProgramWithoutValues(graph, plan), plan);
}

int64_t ArenaBytesOf(program::Program program, const search::Plan& plan) {
  PlanMemory(program, plan.space.memory);
  return program.stages(0).arena_size();
}

namespace {

// The model with flat dimensions that `model` has factors of, as import leaves it.
absl::StatusOr<Model> FlatImport(const Model& model, const onnx::ImportOptions* import) {
  if (model.source != nullptr || import == nullptr) return onnx::WithFactors(model, false);
  YUBA_ASSIGN_OR_RETURN(const Model read, onnx::ImportOnnx(model.file, *import));
  if (read.graph_hash != model.graph_hash) {
    return UserError(model.file, " has changed since its dump was written");
  }
  return onnx::WithFactors(read, false);
}

// The same, behind the phases `order` and `cluster`.
absl::StatusOr<Model> Flat(const Model& model, const onnx::ImportOptions* import) {
  YUBA_ASSIGN_OR_RETURN(Model flat, FlatImport(model, import));
  YUBA_RETURN_IF_ERROR(OrderModel(flat));
  ClusterModel(flat);
  return flat;
}

}  // namespace

absl::StatusOr<search::Plan> SearchModel(search::SearchOptions options, Model& model,
                                         const onnx::ImportOptions* import) {
  options.memory_of = ArenaBytes;
  absl::optional<Model> flat;
  const auto variant = [&](bool factors) -> absl::StatusOr<Graph> {
    if (factors == options.factors) return model.graph;
    if (!flat.has_value()) {
      YUBA_ASSIGN_OR_RETURN(flat, Flat(model, import));
    }
    return flat->graph;
  };
  YUBA_ASSIGN_OR_RETURN(search::PlannedGraph found, search::SearchSpaces(variant, options));
  if (found.plan.space.factors != options.factors) model = *std::move(flat);
  model.graph = std::move(found.graph);
  model.notes.insert(model.notes.end(), found.left_out.begin(), found.left_out.end());
  return std::move(found.plan);
}

}  // namespace yuba::compiler
