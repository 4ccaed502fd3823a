// Objects of oneDNN that free themselves: memories, primitives, and tensors that are reordered into
// a format of the library's choice. The library must outlive them (it is never closed). Errors are
// OneDnnError's. An object is used by one thread at a time.
#ifndef YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_
#define YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/contraction.h"
#include "runtime/host/onednn.h"
#include "runtime/mapped_memory.h"

namespace yuba::runtime {

// `bytes` rounded up to a multiple of 64, the alignment of each region of a workspace.
int64_t DnnlAligned(int64_t bytes);

// Extents and strides (elements) of one tensor, in the library's order of dimensions.
struct DnnlDimensions {
  std::vector<int64_t> extents, strides;

  void Add(int64_t extent, int64_t stride);
  // `plain` has these strides, `any` a format of the library's choice.
  absl::Status Describe(const OneDnn& library, dnnl_memory_desc_t* plain, dnnl_memory_desc_t* any,
                        dnnl_data_type_t type = dnnl_f32) const;
};

class DnnlPostOps;

// A primitive with its description. The caller gives its scratchpad, so that any thread may run it.
class DnnlPrimitive {
 public:
  explicit DnnlPrimitive(const OneDnn& library) : library_(library) {}
  ~DnnlPrimitive();
  DnnlPrimitive(const DnnlPrimitive&) = delete;

  // Makes this a convolution or a gradient of one, with post-ops or without (null). False where the
  // library computes the post-ops wrongly (ComputesRightly), and, where it is to be fast, if it has
  // no such routine but its reference, or one made of products: oneDNN 2.6 does the post-ops of
  // these element by element, and tests had wrong values.
  absl::StatusOr<bool> Convolution(const dnnl_convolution_desc_t& desc, const DnnlPostOps* after,
                                   bool fast);
  // Makes this a matrix product; false where the library computes the post-ops wrongly, or has no
  // product of these operands on this processor but its reference, or, where `brgemm` is asked for,
  // none of the kind that it calls `brg`, its fast one.
  absl::StatusOr<bool> Product(const dnnl_matmul_desc_t& desc, const DnnlPostOps* after,
                               bool brgemm);
  // Makes this a copy from one format to another; with `accumulate` it is added to what is there.
  // One of the three is called, once.
  absl::Status Reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to,
                       bool accumulate = false);

  // The format of an operand or result that the library chose, by what it asks for and its number;
  // with dnnl_query_exec_arg_md that of an argument.
  const dnnl_memory_desc_t& Query(dnnl_query_t what, int index) const;
  int64_t scratchpad() const;  // bytes; 0 where this was made nothing
  dnnl_primitive_t get() const { return primitive_; }

 private:
  dnnl_status_t Attributes(dnnl_primitive_attr_t* attributes, dnnl_post_ops_t after);
  absl::StatusOr<bool> Make(const_dnnl_op_desc_t desc, const DnnlPostOps* after, const char* tried,
                            const std::function<bool(absl::string_view)>& is_fast);
  absl::Status Finish(const char* tried, dnnl_status_t status, dnnl_primitive_attr_t attributes);

  const OneDnn& library_;
  dnnl_primitive_desc_t desc_ = nullptr;
  dnnl_primitive_t primitive_ = nullptr;
};

// A view of memory that the caller owns, in one format.
class DnnlMemory {
 public:
  explicit DnnlMemory(const OneDnn& library) : library_(library) {}
  ~DnnlMemory();
  DnnlMemory(const DnnlMemory&) = delete;

  absl::Status Create(const dnnl_memory_desc_t& desc);
  // The view, moved to `data`; valid until the next call.
  dnnl_memory_t At(const void* data) const;

 private:
  const OneDnn& library_;
  dnnl_memory_t memory_ = nullptr;
};

// The post-ops of a primitive, in their order, and memories for their operands.
class DnnlPostOps {
 public:
  explicit DnnlPostOps(const OneDnn& library) : library_(library) {}
  ~DnnlPostOps();
  DnnlPostOps(const DnnlPostOps&) = delete;

  // `operand` describes that of the step; none where it has none.
  absl::Status Add(const PostOpShape& step, const absl::optional<dnnl_memory_desc_t>& operand);
  dnnl_post_ops_t get() const { return steps_; }  // null where there are none

  // Whether the library computes what they say. oneDNN 2.5 to 3.0 keeps one factor for all scales
  // of a call, the first one's; so false of several scales.
  bool ComputesRightly() const { return scales_ <= 1; }

  // The number of the primitive's argument that is operand `number`, and the argument.
  int ArgumentOf(size_t number) const { return arguments_[number]; }
  dnnl_exec_arg_t Argument(size_t number, const void* data) const;

 private:
  const OneDnn& library_;
  dnnl_post_ops_t steps_ = nullptr;
  int count_ = 0, scales_ = 0;
  std::vector<int> arguments_;                         // [operand]
  std::vector<std::unique_ptr<DnnlMemory>> operands_;  // [operand]
};

// An operand or the result of a primitive: `plain` is how it lies in its buffer, `inner` how the
// primitive wants it. Where the two differ, `reorder` copies an operand from plain to inner and a
// result from inner to plain. A result of which there are several to add up is always copied: the
// first one by `reorder`, the others by `add`.
struct DnnlTensor {
  explicit DnnlTensor(const OneDnn& library)
      : plain(library), inner(library), reorder(library), add(library) {}

  enum Role { kOperand, kResult, kSum };
  absl::Status Prepare(const OneDnn& library, const dnnl_memory_desc_t& plain_desc,
                       const dnnl_memory_desc_t& inner_desc, Role role);
  // The copy of an operand, which is reordered, lies in memory of its own instead of the workspace,
  // and stays.
  absl::Status Keep();
  int64_t scratchpad() const;  // bytes, of the copies

  DnnlMemory plain, inner;
  DnnlPrimitive reorder, add;
  bool reordered = false;         // it is copied
  int64_t offset = 0, bytes = 0;  // of `inner` in the workspace; 0 bytes where it is not there
  MappedMemory kept;
  int64_t kept_bytes = 0;  // 0: it is not kept
  bool is_kept = false;    // `kept` holds what the operand's buffer holds
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_
