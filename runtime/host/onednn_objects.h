// Objects of oneDNN that free themselves: memories, primitives, and tensors that are reordered into
// a format of the library's choice. The library must outlive them (it is never closed). Errors are
// OneDnnError's. An object is used by one thread at a time.
#ifndef YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_
#define YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/host/onednn.h"

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

// A primitive with its description. The caller gives its scratchpad, so that any thread may run it.
class DnnlPrimitive {
 public:
  explicit DnnlPrimitive(const OneDnn& library) : library_(library) {}
  ~DnnlPrimitive();
  DnnlPrimitive(const DnnlPrimitive&) = delete;

  // Makes this a convolution or a gradient of one.
  absl::Status Convolution(const dnnl_convolution_desc_t& desc);
  // Makes this a matrix product by a routine of the kind that oneDNN calls `brg`, its fast one;
  // false where it has none for these operands on this processor.
  absl::StatusOr<bool> Product(const dnnl_matmul_desc_t& desc);
  // Makes this a copy from one format to another; with `accumulate` it is added to what is there.
  // One of the three is called, once.
  absl::Status Reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to,
                       bool accumulate = false);

  // The format of an operand or result that the library chose.
  const dnnl_memory_desc_t& Query(dnnl_query_t what, int index) const;
  int64_t scratchpad() const;  // bytes; 0 where this was made nothing
  dnnl_primitive_t get() const { return primitive_; }

 private:
  dnnl_status_t Attributes(dnnl_primitive_attr_t* attributes);
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
  int64_t scratchpad() const;  // bytes, of the copies

  DnnlMemory plain, inner;
  DnnlPrimitive reorder, add;
  bool reordered = false;         // it is copied
  int64_t offset = 0, bytes = 0;  // of `inner` in the workspace; 0 bytes where not reordered
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_
