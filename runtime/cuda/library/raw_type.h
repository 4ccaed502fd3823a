// The type by which a job or a matrix copy moves elements of a float type as they are.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_RAW_TYPE_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_RAW_TYPE_H_

#include "opsemantics/base/element_type.h"
#include "runtime/cuda/job.h"

namespace yuba::cuda {

inline JobType RawType(ElementType type) {
  const int64_t bytes = ByteSize(type);
  return bytes == 2 ? JobType::kU16 : bytes == 8 ? JobType::kF64 : JobType::kF32;
}

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_RAW_TYPE_H_
