// oneDNN 2 (libdnnl.so.2), which is opened when a program first calls it, and the library calls
// made with it: contractions of f32, bf16 and f16, convolutions of f32 and their gradients. The
// library has threads of its own for each thread that calls it, as many as UseThreads last said
// there; a device has it use as many as the device has itself.
#ifndef YUBA_RUNTIME_HOST_ONEDNN_H_
#define YUBA_RUNTIME_HOST_ONEDNN_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/contraction.h"
#include "runtime/host/thread_team.h"

namespace yuba::runtime {

// The functions used, by their names without "dnnl_".
// clang-format off
#define YUBA_ONEDNN_FUNCTIONS(F)                     \
  F(sgemm)                                           \
  F(engine_create)                                   \
  F(engine_destroy)                                  \
  F(stream_create)                                   \
  F(stream_destroy)                                  \
  F(stream_wait)                                     \
  F(memory_create)                                   \
  F(memory_destroy)                                  \
  F(memory_set_data_handle)                          \
  F(memory_desc_init_by_strides)                     \
  F(memory_desc_init_by_tag)                         \
  F(memory_desc_get_size)                            \
  F(memory_desc_equal)                               \
  F(dilated_convolution_forward_desc_init)           \
  F(dilated_convolution_backward_data_desc_init)     \
  F(dilated_convolution_backward_weights_desc_init)  \
  F(matmul_desc_init)                                \
  F(primitive_desc_create)                           \
  F(primitive_desc_destroy)                          \
  F(primitive_desc_query)                            \
  F(primitive_desc_query_md)                         \
  F(primitive_create)                                \
  F(primitive_destroy)                               \
  F(primitive_execute)                               \
  F(primitive_attr_create)                           \
  F(primitive_attr_destroy)                          \
  F(primitive_attr_set_scratchpad_mode)              \
  F(primitive_attr_set_post_ops)                     \
  F(post_ops_create)                                 \
  F(post_ops_destroy)                                \
  F(post_ops_append_sum)                             \
  F(reorder_primitive_desc_create)
// clang-format on

// The library's functions and its engine for this processor.
struct OneDnn {
#define YUBA_ONEDNN_MEMBER(name) decltype(&::dnnl_##name) name = nullptr;
  YUBA_ONEDNN_FUNCTIONS(YUBA_ONEDNN_MEMBER)
#undef YUBA_ONEDNN_MEMBER
  void (*set_threads)(int) = nullptr;  // OpenMP's, for the calling thread; may be null
  dnnl_engine_t engine = nullptr;

  // Calls from this thread use `count` threads from now on, this one among them.
  void UseThreads(int count) const {
    if (set_threads != nullptr) set_threads(count);
  }

  // Opens it once for the process; never closed. Unavailable where it is missing or too old, also
  // for later calls.
  static absl::StatusOr<const OneDnn*> Open();
};

// A library call prepared for one device. It runs in one thread at a time and returns when the
// result is written.
class LibraryKernel {
 public:
  virtual ~LibraryKernel() = default;
  // Pointers to the starts of the buffers of left, right and result, whose elements have the types
  // of the call's LibraryShape. `workspace` has workspace_bytes(), aligned to 64 bytes; nothing is
  // kept in it between calls. Internal where the library fails.
  virtual absl::Status Run(const void* left, const void* right, void* result, char* workspace) = 0;
  virtual int64_t workspace_bytes() const = 0;

  // Bytes of operands that the kernel keeps in the library's own form, beside the workspace,
  // because they do not change between runs.
  virtual int64_t kept_bytes() const { return 0; }
  // What is kept is made again in the next run: values were set from outside.
  virtual void ForgetKept() {}
};

// `shape` has a result and terms. `team` outlives the kernel and runs nothing else meanwhile.
std::unique_ptr<LibraryKernel> MakeContraction(const OneDnn& library, const LibraryShape& shape,
                                               ThreadTeam& team);

// The same for bf16 by the processor's own bf16 instructions (AVX512_BF16, AMX), which multiply
// about twice as fast as f32 ones. Null where it has none, or the operands lie so that the library
// has no fast routine: then MakeContraction serves.
absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeBF16Contraction(const OneDnn& library,
                                                                   const LibraryShape& shape);

// `kernel` is a convolution, or a gradient of one, that has a result and terms on `device`. With
// `keep_right` no instruction writes the right operand: a filter there is reordered once, in the
// first run. Internal where the library refuses it, ResourceExhausted where there is no memory to
// keep the filter.
absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeConvolution(const OneDnn& library,
                                                               const LoadedProgram& program,
                                                               const program::Kernel& kernel,
                                                               int device, bool keep_right);

// The error of a call of the library that failed: what was tried, and the library's status.
// ResourceExhausted where it had no memory, else Internal.
absl::Status OneDnnError(const char* tried, dnnl_status_t status);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_ONEDNN_H_
