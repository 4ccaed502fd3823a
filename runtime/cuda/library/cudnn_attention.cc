#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_attention.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/library/attention_limits.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kWorkspaceAlignment = 256;
constexpr int64_t kWorkspaceBesideTensors = int64_t{64} << 20;

// The engines of Hopper and Ampere, whose gradients are added up in one order where the graph is
// the form that says so (cudnn_attention_graph.cc, attention_limits.cc); no note tells them from
// others.
constexpr int64_t kOrderedEngines[] = {6, 7};

// Notes say what an engine does to numbers beside the graph: of these nothing.
bool IsHarmless(cudnnBackendNumericalNote_t note) {
  return note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE || note == CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP;
}

bool IsAllowed(const CudnnEngine& engine, bool backward) {
  const auto* const end = std::end(kOrderedEngines);
  return std::all_of(engine.notes.begin(), engine.notes.end(), IsHarmless) &&
         (!backward || std::find(std::begin(kOrderedEngines), end, engine.number) != end);
}

// It follows from the routine alone, since it decides which engine is taken, and so the bits.
int64_t WorkspaceLimit(const AttentionRoutine& part) {
  const int64_t bytes = kWorkspaceBesideTensors + TensorBytes(part);
  return part.backward ? bytes + ScoreBytes(part) + ShareBytes(part) : bytes;
}

int64_t RowSumBytes(const AttentionRoutine& part) {
  return ByteSize(ElementType::kF32) * part.batch * part.heads * part.queries;
}

}  // namespace

absl::StatusOr<CudnnAttention> CudnnAttention::Make(const CudnnTarget& target,
                                                    const AttentionRoutine& routine) {
  YUBA_ASSIGN_OR_RETURN(const int capability, CapabilityOf(target));
  const auto version = static_cast<int64_t>(target.library->cudnnGetVersion());
  YUBA_RETURN_IF_ERROR(CheckAttention(routine, version, capability));
  AttentionParts parts = PartsOf(routine);
  AttentionGraph graph = GraphOf(parts.part);
  YUBA_ASSIGN_OR_RETURN(CudnnGraph described, Describe(target, graph.operations));
  auto planned =
      ChooseEngine(target, std::move(described), WorkspaceLimit(parts.part),
                   [&](const CudnnEngine& engine) { return IsAllowed(engine, routine.backward); });
  if (absl::IsNotFound(planned.status()))
    return absl::UnimplementedError(
        absl::StrCat("cuDNN has no ",
                     routine.backward ? "engine that gives the same bits in every run for "
                                        "gradients of attention of "
                                      : "engine for attention of ",
                     TextOf(routine), " on this GPU"));
  YUBA_RETURN_IF_ERROR(planned.status());
  CudnnAttention made(target, *std::move(planned));
  made.graph_ = std::move(graph);
  made.offsets_ = std::move(parts.offsets);
  made.workspace_bytes_ = made.planned_.workspace_bytes;
  if (routine.backward) {
    made.row_sums_at_ = (made.workspace_bytes_ + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                        kWorkspaceAlignment;
    made.workspace_bytes_ = made.row_sums_at_ + RowSumBytes(parts.part);
  }
  return made;
}

absl::Status CudnnAttention::Execute(const Pointers& pointers, char* workspace) const {
  std::vector<void*> given(graph_.operations.tensors().size());
  if (graph_.row_sums >= 0) given[graph_.row_sums] = workspace + row_sums_at_;
  for (const auto& offsets : offsets_) {
    for (int t = 0; t < kAttentionOperands; ++t) {
      if (graph_.tensors[t] >= 0)
        given[graph_.tensors[t]] = static_cast<char*>(pointers[t]) + offsets[t];
    }
    YUBA_RETURN_IF_ERROR(
        cuda::Execute(target_, planned_.plan, graph_.operations, given, workspace));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const CudnnAttention>> CudnnAttentions::Get(
    const AttentionRoutine& routine) {
  for (const Known& known : known_) {
    if (known.routine == routine) return known.made;
  }
  auto made = CudnnAttention::Make(target_, routine);
  if (made.ok()) {
    known_.push_back({routine, std::make_shared<const CudnnAttention>(*std::move(made))});
  } else {
    known_.push_back({routine, made.status()});
  }
  return known_.back().made;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
