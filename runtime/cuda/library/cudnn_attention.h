// An attention, or its gradients (attention_routine.h), through cuDNN: a graph of operations that
// the library computes as one routine, for each part of the batch and the heads.
//
// Example, with GPT-2's routine of attention_routine.h:
//   YUBA_ASSIGN_OR_RETURN(const CudnnAttention attention, CudnnAttention::Make(target, routine));
//   CudnnAttention::Pointers pointers = {q, k, v, o};
//   YUBA_RETURN_IF_ERROR(attention.Execute(pointers, workspace));  // attention.workspace_bytes()
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ATTENTION_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ATTENTION_H_

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda/library/cudnn_attention_graph.h"
#include "runtime/cuda/library/cudnn_engines.h"

namespace yuba::cuda {

class CudnnAttention {
 public:
  using Pointers = std::array<void*, kAttentionOperands>;  // of tensors that are not used: null

  // The routine on the target's GPU. Backward is always the form that adds up in one order, so that
  // the same call gives the same bits. Takes up to a second for code that the library compiles.
  // Unavailable where the library is too old for it, Unimplemented where it has none, with the
  // cause in words.
  static absl::StatusOr<CudnnAttention> Make(const CudnnTarget& target,
                                             const AttentionRoutine& routine);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  int64_t engine() const { return planned_.engine; }  // its number in the library
  // Of the library, each time: one for each part.
  int64_t calls() const { return static_cast<int64_t>(offsets_.size()); }

  // Starts the routine on the stream of the target's handle. The workspace is aligned to 256 bytes
  // and no other work of the stream uses it meanwhile.
  absl::Status Execute(const Pointers& pointers, char* workspace) const;

 private:
  CudnnAttention(const CudnnTarget& target, CudnnPlanned planned)
      : target_(target), planned_(std::move(planned)) {}

  CudnnTarget target_;
  CudnnPlanned planned_;  // of one part; all are alike
  AttentionGraph graph_;
  std::vector<std::array<int64_t, kAttentionOperands>> offsets_;  // of the parts, bytes
  int64_t row_sums_at_ = 0;  // backward: in the workspace, bytes
  int64_t workspace_bytes_ = 0;
};

// Attentions of one target, each made once: the layers of a model are alike. Not for several
// threads at once.
class CudnnAttentions {
 public:
  explicit CudnnAttentions(CudnnTarget target) : target_(std::move(target)) {}

  // As CudnnAttention::Make says; that there is none is known after the first time too.
  absl::StatusOr<std::shared_ptr<const CudnnAttention>> Get(const AttentionRoutine& routine);

 private:
  struct Known {
    AttentionRoutine routine;
    absl::StatusOr<std::shared_ptr<const CudnnAttention>> made;
  };
  const CudnnTarget target_;
  std::vector<Known> known_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ATTENTION_H_
