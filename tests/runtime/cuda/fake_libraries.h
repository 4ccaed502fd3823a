// Functions on the fake GPUs in the tables of libraries (runtime/cuda/libraries.h), a library each.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_LIBRARIES_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_LIBRARIES_H_

#include "runtime/cuda/libraries.h"

namespace yuba::cuda {

void FakeCublasLt();
void FakeCudnn();
void FakeNccl(Nccl& nccl);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_LIBRARIES_H_
