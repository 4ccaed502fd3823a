// Fresh fake GPUs for a test case.
#ifndef YUBA_TESTS_RUNTIME_CUDA_ON_FAKES_H_
#define YUBA_TESTS_RUNTIME_CUDA_ON_FAKES_H_

#include <catch2/catch.hpp>

#include "runtime/session.h"
#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {

inline const bool kLibrariesAreFake = (FakeLibraries(), true);

// The fakes with their settings as they are at first; at its end, a check that everything was
// freed.
class OnFakes {
 public:
  explicit OnFakes(int gpus) {
    REQUIRE(kLibrariesAreFake);
    Fake() = FakeCuda();
    Fake().gpus = gpus;
  }
  ~OnFakes() {
    if (!leaks_) {
      CHECK(Fake().allocations == 0);
      CHECK(Fake().streams == 0);
      CHECK(Fake().events == 0);
      CHECK(Fake().modules == 0);
      CHECK(Fake().graphs == 0);
    }
    Fake() = FakeCuda();
    ForgetStreams();
  }
  // What hangs is not freed, and nothing waits for it.
  void AllowLeaks() { leaks_ = true; }

 private:
  bool leaks_ = false;
};

inline runtime::RunOptions OnCuda(bool interleave = false, uint64_t seed = 0) {
  runtime::RunOptions options;
  options.backend = "cuda";
  options.interleave = interleave;
  options.interleave_seed = seed;
  return options;
}

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_ON_FAKES_H_
