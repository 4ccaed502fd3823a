// The two calls of an attention of a program (program.proto) on one device: that which computes its
// result, and that of the gradients.
//
// Example: of a program of two layers, trained, each device has two of these, each with a forward
// and a backward call. What the forward call leaves for the backward one, the statistics of rows,
// is in a buffer of the program.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_CALLS_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_CALLS_H_

#include <array>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/attention_geometry.h"
#include "runtime/cuda/library/cudnn_attention.h"
#include "runtime/cuda/library/library_handles.h"
#include "runtime/device.h"

namespace yuba::cuda {

class AttentionCall {
 public:
  // Starts the call on the stream of the handles and does not wait for it. `workspace` has
  // workspace_bytes(), aligned to 256, that no other work of the stream uses meanwhile.
  absl::Status Run(char* arena, char* workspace) const;
  int64_t workspace_bytes() const { return attention_->workspace_bytes(); }

 private:
  friend struct AttentionCalls;
  std::shared_ptr<const CudnnAttention> attention_;
  std::array<int64_t, kAttentionOperands> at_;  // in the arena, bytes; -1: there is no such tensor
};

struct AttentionCalls {
  bool nothing = false;  // the device computes nothing of it
  absl::optional<AttentionCall> forward, backward;

  // Unavailable where the library is missing or too old, Unimplemented where it does not have both
  // calls: the kernels for which they stand would do. Nothing on the GPU is started.
  static absl::StatusOr<AttentionCalls> Make(const runtime::LoadedProgram& program,
                                             const program::Attention& attention,
                                             const runtime::ArenaLayout& layout, int device,
                                             LibraryHandles& handles);
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_CALLS_H_
