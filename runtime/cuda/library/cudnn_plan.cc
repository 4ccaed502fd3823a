#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_plan.h"

#include <algorithm>

#include "runtime/cuda/library/cudnn_routine.h"

namespace yuba::cuda {
namespace {

// Of a plan's workspace: a copy of each tensor in another order, and some partial sums. It follows
// from the routine alone, because it decides which engine is taken, and so the bits.
constexpr int64_t kWorkspaceBesideTensors = int64_t{64} << 20;

constexpr int64_t kMostEngines = 64;  // that heuristics are asked for
constexpr int64_t kMostNotes = CUDNN_NUMERICAL_NOTE_TYPE_COUNT;

int64_t WorkspaceLimit(const CudnnRoutine& routine) {
  int64_t elements = 0;
  for (const CudnnTensor& tensor : routine.tensors) {
    int64_t of_tensor = 1;
    for (const int64_t extent : tensor.extents) of_tensor *= extent;
    elements += of_tensor;
  }
  return kWorkspaceBesideTensors + elements * ByteSize(routine.type);
}

// Whether an engine with this note may compute the routine.
bool IsAllowed(cudnnBackendNumericalNote_t note, const CudnnRoutine& routine) {
  const bool rounded = routine.tf32 || ByteSize(routine.type) == 2;  // what is multiplied
  switch (note) {
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION: return false;
    // Tensor cores multiply f32 as TF32.
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE: return rounded || routine.type == ElementType::kF64;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS: return routine.tf32;
    // They make other numbers of the operands before they multiply, and would round these.
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
    case CUDNN_NUMERICAL_NOTE_FFT: return !rounded;
    default: return true;
  }
}

absl::StatusOr<bool> IsAllowed(const CudnnDescriptor& engine, const CudnnRoutine& routine) {
  YUBA_ASSIGN_OR_RETURN(const auto notes, engine.Get<cudnnBackendNumericalNote_t>(
                                              CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                              CUDNN_TYPE_NUMERICAL_NOTE, kMostNotes));
  return std::all_of(notes.begin(), notes.end(),
                     [&](cudnnBackendNumericalNote_t note) { return IsAllowed(note, routine); });
}

// The engines, with their settings, that heuristics name, the best first.
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

absl::StatusOr<CudnnDescriptor> PlanOf(const CudnnTarget& target, const CudnnGraph& graph,
                                       const CudnnDescriptor& engine) {
  YUBA_ASSIGN_OR_RETURN(
      CudnnDescriptor plan,
      CudnnDescriptor::Make(*target.library, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine));
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

absl::StatusOr<CudnnPlan> CudnnPlan::Make(const CudnnTarget& target, const CudnnRoutine& routine) {
  const Cudnn& library = *target.library;
  YUBA_ASSIGN_OR_RETURN(CudnnGraph graph, GraphOf(target, routine));
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    auto engines = EnginesFor(library, graph, mode);
    if (absl::IsUnimplemented(engines.status())) continue;
    YUBA_RETURN_IF_ERROR(engines.status());
    for (CudnnDescriptor& settings : *engines) {
      std::vector<CudnnDescriptor> engine;
      YUBA_ASSIGN_OR_RETURN(CudnnDescriptor slot,
                            CudnnDescriptor::Make(library, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
      engine.push_back(std::move(slot));
      YUBA_RETURN_IF_ERROR(settings.GetInto(CUDNN_ATTR_ENGINECFG_ENGINE, engine));
      YUBA_ASSIGN_OR_RETURN(const bool allowed, IsAllowed(engine[0], routine));
      if (!allowed) continue;
      absl::StatusOr<CudnnDescriptor> made = PlanOf(target, graph, settings);
      if (absl::IsUnimplemented(made.status())) continue;
      YUBA_RETURN_IF_ERROR(made.status());
      YUBA_ASSIGN_OR_RETURN(
          const auto bytes,
          made->Get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1));
      if (bytes.at(0) > WorkspaceLimit(routine)) continue;
      YUBA_ASSIGN_OR_RETURN(
          const auto number,
          engine[0].Get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1));
      CudnnPlan plan(target, *std::move(made));
      plan.workspace_bytes_ = bytes.at(0);
      plan.engine_ = number.at(0);
      plan.parts_ = std::move(graph.parts);
      plan.parts_.push_back(std::move(graph.operations));
      plan.parts_.push_back(std::move(settings));
      return plan;
    }
  }
  return absl::UnimplementedError("cuDNN has no engine for a convolution");
}

absl::Status CudnnPlan::Execute(const CudnnPointers& pointers, char* workspace) const {
  std::vector<void*> data(pointers.tensors.begin(), pointers.tensors.end());
  std::vector<int64_t> numbers = {TensorNumber(kInput), TensorNumber(kFilter),
                                  TensorNumber(kOutput)};
  if (pointers.residual != nullptr) {
    data.push_back(pointers.residual);
    numbers.push_back(kResidualNumber);
  }
  if (pointers.bias != nullptr) {
    data.push_back(pointers.bias);
    numbers.push_back(kBiasNumber);
  }
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor pack,
                        CudnnDescriptor::Make(*library_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data));
  YUBA_RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, numbers));
  YUBA_RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
                                std::vector<void*>{workspace}));
  YUBA_RETURN_IF_ERROR(pack.Finish());
  YUBA_CUDA(library_->cudnnBackendExecute(handle_, plan_.get(), pack.get()));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
