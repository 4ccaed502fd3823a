// Objects of oneDNN that end themselves: memories, primitives, and tensors in the library's
// formats.
#ifndef YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_
#define YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/host/onednn.h"

namespace yuba::runtime {

// The next multiple of what a part of the workspace is aligned to: 64 bytes.
int64_t DnnlAligned(int64_t bytes);

// Extents and strides of one tensor as the library wants them.
struct DnnlDimensions {
  std::vector<int64_t> extents, strides;

  void Add(int64_t extent, int64_t stride);
  // `plain` has these strides, `any` a format of the library's choice.
  absl::Status Describe(const OneDnn& library, dnnl_memory_desc_t* plain,
                        dnnl_memory_desc_t* any) const;
};

// A primitive with its description; user-managed scratchpad, so that any thread may run it.
class DnnlPrimitive {
 public:
  explicit DnnlPrimitive(const OneDnn& library) : library_(library) {}
  ~DnnlPrimitive();
  DnnlPrimitive(const DnnlPrimitive&) = delete;

  // With `accumulate` the result is added to what is there.
  absl::Status Convolution(const dnnl_convolution_desc_t& desc, bool accumulate);
  absl::Status Reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to);

  const dnnl_memory_desc_t& Query(dnnl_query_t what, int index) const;
  int64_t scratchpad() const;  // bytes
  dnnl_primitive_t get() const { return primitive_; }

 private:
  dnnl_status_t Attributes(dnnl_primitive_attr_t* attributes);
  absl::Status Finish(const char* tried, dnnl_status_t status, dnnl_primitive_attr_t attributes);

  const OneDnn& library_;
  dnnl_primitive_desc_t desc_ = nullptr;
  dnnl_primitive_t primitive_ = nullptr;
};

class DnnlMemory {
 public:
  explicit DnnlMemory(const OneDnn& library) : library_(library) {}
  ~DnnlMemory();
  DnnlMemory(const DnnlMemory&) = delete;

  absl::Status Create(const dnnl_memory_desc_t& desc);
  dnnl_memory_t At(const void* data) const;

 private:
  const OneDnn& library_;
  dnnl_memory_t memory_ = nullptr;
};

// An operand or the result: how it lies in the buffer and how the primitive wants it.
struct DnnlTensor {
  explicit DnnlTensor(const OneDnn& library) : plain(library), inner(library), reorder(library) {}

  absl::Status Prepare(const OneDnn& library, const dnnl_memory_desc_t& plain_desc,
                       const dnnl_memory_desc_t& inner_desc, bool is_result);

  DnnlMemory plain, inner;
  DnnlPrimitive reorder;
  bool reordered = false;
  int64_t offset = 0, bytes = 0;  // in the workspace, where reordered
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_ONEDNN_OBJECTS_H_
