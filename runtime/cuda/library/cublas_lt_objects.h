// Objects of cuBLASLt that are destroyed with their owners: what a product of matrices is, how a
// matrix lies, and what is wanted of the algorithm.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_OBJECTS_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_OBJECTS_H_

#include "runtime/cuda/error.h"

namespace yuba::cuda {

// A descriptor of type `Descriptor`, which a pair of functions makes and destroys, and a third
// gives attributes.
template <typename Descriptor, typename Attribute>
class CublasLtObject {
 public:
  using Destroy = cublasStatus_t (*)(Descriptor);
  using SetAttribute = cublasStatus_t (*)(Descriptor, Attribute, const void*, size_t);

  CublasLtObject(Destroy destroy, SetAttribute set) : destroy_(destroy), set_(set) {}
  ~CublasLtObject() {
    if (made_ != nullptr) destroy_(made_);
  }
  CublasLtObject(const CublasLtObject&) = delete;

  Descriptor* slot() { return &made_; }  // for the function that makes it
  Descriptor get() const { return made_; }

  template <typename Value>
  absl::Status Set(Attribute attribute, Value value) {
    YUBA_CUDA(set_(made_, attribute, &value, sizeof value));
    return absl::OkStatus();
  }

 private:
  const Destroy destroy_;
  const SetAttribute set_;
  Descriptor made_ = nullptr;
};

using LtProduct = CublasLtObject<cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t>;
using LtMatrix = CublasLtObject<cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t>;
using LtPreference =
    CublasLtObject<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t>;

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_OBJECTS_H_
