// A descriptor of cuDNN's graph API, with attributes that are set one by one until it is final.
//
// Example: a convolution's strides.
//   YUBA_ASSIGN_OR_RETURN(CudnnDescriptor strided,
//                         CudnnDescriptor::Make(cudnn, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
//   YUBA_RETURN_IF_ERROR(strided.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
//                                    CUDNN_TYPE_INT64, std::vector<int64_t>{2, 2}));
//   YUBA_RETURN_IF_ERROR(strided.Finish());
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_DESCRIPTOR_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_DESCRIPTOR_H_

#include <utility>
#include <vector>

#include "runtime/cuda/error.h"

namespace yuba::cuda {

class CudnnDescriptor {
 public:
  static absl::StatusOr<CudnnDescriptor> Make(const Cudnn& library,
                                              cudnnBackendDescriptorType_t type) {
    CudnnDescriptor made(library);
    YUBA_CUDA(library.cudnnBackendCreateDescriptor(type, &made.descriptor_));
    return made;
  }
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : library_(other.library_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~CudnnDescriptor() {
    if (descriptor_ != nullptr) library_->cudnnBackendDestroyDescriptor(descriptor_);
  }

  cudnnBackendDescriptor_t get() const { return descriptor_; }

  // `type` is the library's name of Value.
  template <typename Value>
  absl::Status Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                   const std::vector<Value>& values) {
    YUBA_CUDA(library_->cudnnBackendSetAttribute(
        descriptor_, name, type, static_cast<int64_t>(values.size()), values.data()));
    return absl::OkStatus();
  }
  absl::Status Set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
               std::vector<cudnnBackendDescriptor_t>{value.get()});
  }
  // Of attributes that are lists of descriptors.
  absl::Status Set(cudnnBackendAttributeName_t name, const std::vector<CudnnDescriptor>& values) {
    std::vector<cudnnBackendDescriptor_t> raw;
    for (const CudnnDescriptor& value : values) raw.push_back(value.get());
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw);
  }
  absl::Status Finish() {
    YUBA_CUDA(library_->cudnnBackendFinalize(descriptor_));
    return absl::OkStatus();
  }

  // Up to `most` values of an attribute; as many as there are.
  template <typename Value>
  absl::StatusOr<std::vector<Value>> Get(cudnnBackendAttributeName_t name,
                                         cudnnBackendAttributeType_t type, int64_t most) const {
    std::vector<Value> values(most);
    int64_t count = 0;
    YUBA_CUDA(
        library_->cudnnBackendGetAttribute(descriptor_, name, type, most, &count, values.data()));
    values.resize(count);
    return values;
  }
  // Fills `values`, which have been made, with the values of an attribute; leaves as many as there
  // are.
  absl::Status GetInto(cudnnBackendAttributeName_t name,
                       std::vector<CudnnDescriptor>& values) const {
    std::vector<cudnnBackendDescriptor_t> raw;
    for (const CudnnDescriptor& value : values) raw.push_back(value.get());
    int64_t count = 0;
    YUBA_CUDA(library_->cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                 static_cast<int64_t>(raw.size()), &count,
                                                 raw.data()));
    while (static_cast<int64_t>(values.size()) > count) values.pop_back();
    return absl::OkStatus();
  }

 private:
  explicit CudnnDescriptor(const Cudnn& library) : library_(&library) {}

  const Cudnn* library_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_DESCRIPTOR_H_
