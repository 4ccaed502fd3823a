#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/attention_calls.h"

#include <algorithm>

#include "runtime/cuda/library/alignment.h"
#include "runtime/program/check_attention.h"

namespace yuba::cuda {
namespace {

using runtime::AttentionGeometry;
using runtime::AttentionPlace;

// Of each tensor of a program's attention, in its order, that of the routine.
constexpr AttentionOperand kOperands[runtime::kAttentionTensors] = {
    kQuery,         kKey,         kValue,        kAttended, kAttendedGradient,
    kQueryGradient, kKeyGradient, kValueGradient};

// The statistics of rows are dense, heads outside of positions.
bool AreDense(const AttentionGeometry& geometry) {
  const auto& strides = geometry.row_sums.strides;
  return (geometry.queries == 1 || strides[2] == 1) &&
         (geometry.heads == 1 || strides[1] == geometry.queries) &&
         (geometry.batch == 1 || strides[0] == geometry.heads * geometry.queries);
}

class Maker {
 public:
  Maker(const runtime::LoadedProgram& program, const runtime::ArenaLayout& layout,
        const AttentionGeometry& geometry)
      : program_(program), layout_(layout), geometry_(geometry) {}

  // In the arena, bytes.
  int64_t At(const AttentionPlace& place) const {
    if (place.buffer < 0) return -1;
    return layout_.offsets[place.buffer] + place.first * program_.ElementBytes(place.buffer);
  }

  std::array<int64_t, kAttentionOperands> Places() const {
    std::array<int64_t, kAttentionOperands> at;
    at.fill(-1);
    for (int t = 0; t < runtime::kAttentionTensors; ++t)
      at[kOperands[t]] = At(geometry_.tensors[t]);
    at[kAttentionBias] = At(geometry_.bias);
    at[kStatistics] = At(geometry_.row_sums);
    return at;
  }

  AttentionRoutine Routine(bool backward, bool trained) const {
    AttentionRoutine routine;
    routine.backward = backward;
    routine.type = geometry_.type;
    routine.batch = geometry_.batch;
    routine.heads = geometry_.heads;
    routine.key_heads = geometry_.key_heads;
    routine.queries = geometry_.queries;
    routine.keys = geometry_.keys;
    routine.width = geometry_.width;
    routine.value_width = geometry_.value_width;
    routine.scale = static_cast<float>(geometry_.scale);
    for (int t = 0; t < runtime::kAttentionTensors; ++t) {
      if (kOperands[t] < TensorsOf(routine))
        routine.tensors[kOperands[t]] = Of(geometry_.tensors[t]);
    }
    if (geometry_.causal)
      routine.causal = CausalMask{geometry_.offset, static_cast<float>(geometry_.hidden)};
    if (geometry_.bias.buffer >= 0)
      routine.bias = AttentionBias{geometry_.bias_type, Of(geometry_.bias)};
    routine.statistics = trained && !backward;
    return routine;
  }

 private:
  AttentionTensor Of(const AttentionPlace& place) const {
    return {place.strides, CommonAlignment({At(place)})};
  }

  const runtime::LoadedProgram& program_;
  const runtime::ArenaLayout& layout_;
  const AttentionGeometry& geometry_;
};

}  // namespace

absl::Status AttentionCall::Run(char* arena, char* workspace) const {
  CudnnAttention::Pointers pointers = {};
  for (int t = 0; t < kAttentionOperands; ++t) {
    if (at_[t] >= 0) pointers[t] = arena + at_[t];
  }
  return attention_->Execute(pointers, workspace);
}

absl::StatusOr<AttentionCalls> AttentionCalls::Make(const runtime::LoadedProgram& program,
                                                    const program::Attention& attention,
                                                    const runtime::ArenaLayout& layout, int device,
                                                    LibraryHandles& handles) {
  YUBA_ASSIGN_OR_RETURN(const AttentionGeometry geometry,
                        runtime::GeometryOf(program, attention, device));
  AttentionCalls calls;
  calls.nothing = geometry.nothing;
  if (calls.nothing) return calls;
  const bool trained = program::HasBackward(attention);
  if (trained && !AreDense(geometry))
    return absl::UnimplementedError("statistics of rows of attention are in another order");
  YUBA_ASSIGN_OR_RETURN(CudnnAttentions * known, handles.Attentions());
  const Maker maker(program, layout, geometry);
  for (const bool backward : {false, true}) {
    if (backward && !trained) break;
    AttentionCall& call = (backward ? calls.backward : calls.forward).emplace();
    YUBA_ASSIGN_OR_RETURN(call.attention_, known->Get(maker.Routine(backward, trained)));
    call.at_ = maker.Places();
  }
  return calls;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
