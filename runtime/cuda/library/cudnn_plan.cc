#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_plan.h"

#include <algorithm>
#include <utility>

#include "runtime/cuda/library/cudnn_engines.h"
#include "runtime/cuda/library/cudnn_routine.h"

namespace yuba::cuda {
namespace {

// Of a plan's workspace: a copy of each tensor in another order, and some partial sums. It follows
// from the routine alone, because it decides which engine is taken, and so the bits.
constexpr int64_t kWorkspaceBesideTensors = int64_t{64} << 20;

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

}  // namespace

absl::StatusOr<CudnnPlan> CudnnPlan::Make(const CudnnTarget& target, const CudnnRoutine& routine) {
  YUBA_ASSIGN_OR_RETURN(CudnnGraph graph, GraphOf(target, routine));
  auto planned = ChooseEngine(
      target, std::move(graph), WorkspaceLimit(routine), [&](const CudnnEngine& engine) {
        return std::all_of(
            engine.notes.begin(), engine.notes.end(),
            [&](cudnnBackendNumericalNote_t note) { return IsAllowed(note, routine); });
      });
  if (planned.ok()) {
    CudnnPlan plan(target, std::move(planned->plan));
    plan.workspace_bytes_ = planned->workspace_bytes;
    plan.engine_ = planned->engine;
    plan.parts_ = std::move(planned->parts);
    return plan;
  }
  if (!absl::IsNotFound(planned.status())) return planned.status();
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
