// oneDNN 2 (libdnnl.so.2), which is opened when a program first calls it, and the library calls
// made with it: contractions of f32, bf16 and f16, convolutions of f32 and their gradients
// (convolution.h). The library has threads of its own for each thread that calls it, as many as
// UseThreads last said there; a device has it use as many as the device has itself.
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
  F(post_ops_append_binary)                          \
  F(post_ops_append_eltwise)                         \
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

// Where a call's tensors begin: pointers to the starts of their buffers, whose elements have the
// types of the call's LibraryShape.
struct LibraryBuffers {
  const void* left = nullptr;
  const void* right = nullptr;
  void* result = nullptr;
  std::vector<const void*> post;  // [operand of a post-op]
};

// A library call prepared for one device. It runs in one thread at a time and returns when the
// result is written.
class LibraryKernel {
 public:
  virtual ~LibraryKernel() = default;
  // `workspace` has workspace_bytes(), aligned to 64 bytes; nothing is kept in it between calls.
  // Internal where the library fails.
  virtual absl::Status Run(const LibraryBuffers& buffers, char* workspace) = 0;
  virtual int64_t workspace_bytes() const = 0;

  // Bytes of operands that the kernel keeps in the library's own form, beside the workspace,
  // because they do not change between runs.
  virtual int64_t kept_bytes() const { return 0; }
  // What is kept is made again in the next run: values were set from outside.
  virtual void ForgetKept() {}
  // Whether Run does the post-ops of the call too.
  virtual bool does_post_ops() const { return false; }
};

// `shape` has a result and terms. `team` outlives the kernel and runs nothing else meanwhile.
std::unique_ptr<LibraryKernel> MakeContraction(const OneDnn& library, const LibraryShape& shape,
                                               ThreadTeam& team);

// The same by the library's product of matrices, which is planned for these extents: of bf16 by the
// processor's own instructions (AVX512_BF16, AMX), about twice as fast as f32 ones, and of f32 with
// post-ops. With `keep_right` no instruction writes the right operand: it is kept in the library's
// form, reordered in the first run. Null where the library has no fast routine for it, or the
// operands lie so that it takes several calls: then MakeContraction serves.
absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeMatrixProduct(const OneDnn& library,
                                                                 const LibraryShape& shape,
                                                                 bool keep_right);

// The error of a call of the library that failed: what was tried, and the library's status.
// ResourceExhausted where it had no memory, else Internal.
absl::Status OneDnnError(const char* tried, dnnl_status_t status);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_ONEDNN_H_
