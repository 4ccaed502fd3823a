#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_engines.h"

#include <cstdlib>
#include <string>
#include <utility>

namespace yuba::cuda {
namespace {

constexpr int64_t kMostEngines = 64;  // that heuristics are asked for
constexpr int64_t kMostNotes = CUDNN_NUMERICAL_NOTE_TYPE_COUNT;

// Engines with their settings, the best first.
absl::StatusOr<std::vector<CudnnDescriptor>> EnginesFor(const Cudnn& library,
                                                        const CudnnGraph& graph,
                                                        cudnnBackendHeurMode_t mode) {
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor heuristics,
                        CudnnDescriptor::Make(library, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.operations));
  YUBA_RETURN_IF_ERROR(
      heuristics.Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, std::vector{mode}));
  if (graph.device.has_value())
    YUBA_RETURN_IF_ERROR(heuristics.Set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *graph.device));
  YUBA_RETURN_IF_ERROR(heuristics.Finish());
  std::vector<CudnnDescriptor> engines;
  for (int64_t e = 0; e < kMostEngines; ++e) {
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor made,
                          CudnnDescriptor::Make(library, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    engines.push_back(std::move(made));
  }
  YUBA_RETURN_IF_ERROR(heuristics.GetInto(CUDNN_ATTR_ENGINEHEUR_RESULTS, engines));
  return engines;
}

absl::StatusOr<CudnnEngine> EngineOf(const Cudnn& library, const CudnnDescriptor& settings) {
  std::vector<CudnnDescriptor> slot;
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor made,
                        CudnnDescriptor::Make(library, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  slot.push_back(std::move(made));
  YUBA_RETURN_IF_ERROR(settings.GetInto(CUDNN_ATTR_ENGINECFG_ENGINE, slot));
  CudnnEngine engine;
  YUBA_ASSIGN_OR_RETURN(
      engine.notes, slot[0].Get<cudnnBackendNumericalNote_t>(
                        CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, kMostNotes));
  YUBA_ASSIGN_OR_RETURN(const auto number,
                        slot[0].Get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1));
  engine.number = number.at(0);
  return engine;
}

absl::StatusOr<CudnnDescriptor> PlanOf(const CudnnTarget& target, const CudnnGraph& graph,
                                       const CudnnDescriptor& settings) {
  YUBA_ASSIGN_OR_RETURN(
      CudnnDescriptor plan,
      CudnnDescriptor::Make(*target.library, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, settings));
  if (graph.device.has_value()) {
    YUBA_RETURN_IF_ERROR(plan.Set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *graph.device));
  } else {
    YUBA_RETURN_IF_ERROR(
        plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, std::vector{target.handle}));
  }
  YUBA_RETURN_IF_ERROR(plan.Finish());
  return plan;
}

}  // namespace

absl::StatusOr<CudnnPlanned> ChooseEngine(const CudnnTarget& target, CudnnGraph graph,
                                          int64_t workspace_limit,
                                          const std::function<bool(const CudnnEngine&)>& allows) {
  const Cudnn& library = *target.library;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    auto engines = EnginesFor(library, graph, mode);
    if (absl::IsUnimplemented(engines.status())) continue;
    YUBA_RETURN_IF_ERROR(engines.status());
    for (CudnnDescriptor& settings : *engines) {
      YUBA_ASSIGN_OR_RETURN(const CudnnEngine engine, EngineOf(library, settings));
      if (!allows(engine)) continue;
      absl::StatusOr<CudnnDescriptor> plan = PlanOf(target, graph, settings);
      if (absl::IsUnimplemented(plan.status())) continue;
      YUBA_RETURN_IF_ERROR(plan.status());
      YUBA_ASSIGN_OR_RETURN(
          const auto bytes,
          plan->Get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1));
      if (bytes.at(0) > workspace_limit) continue;
      CudnnPlanned planned = {*std::move(plan), std::move(graph.parts), engine.number, bytes.at(0)};
      planned.parts.push_back(std::move(graph.operations));
      planned.parts.push_back(std::move(settings));
      return planned;
    }
  }
  return absl::NotFoundError("cuDNN has no engine for a graph");
}

absl::StatusOr<int> CapabilityOf(const CudnnTarget& target) {
  if (target.handle != nullptr) {
    int gpu = 0;
    cudaDeviceProp properties;
    YUBA_CUDA(cudaGetDevice(&gpu));
    YUBA_CUDA(cudaGetDeviceProperties(&properties, gpu));
    return properties.major * 10 + properties.minor;
  }
  // The description has it as "deviceVer":900.
  const std::string key = "\"deviceVer\":";
  const size_t found = target.description.find(key);
  if (found == std::string::npos)
    return InternalError("a GPU is described to cuDNN without ", key, ": ", target.description);
  return static_cast<int>(
             std::strtol(target.description.c_str() + found + key.size(), nullptr, 10)) /
         10;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
