#ifdef YUBA_WITH_CUDA
// The libraries of the fake GPUs.
#include "tests/runtime/cuda/fake_libraries.h"

#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {

void FakeLibraries() {
  FakeCublasLt();
  FakeCudnn();
  if (auto opened = Nccl::Open(); opened.ok()) FakeNccl(*const_cast<Nccl*>(*opened));
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
