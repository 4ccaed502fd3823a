// tests/runtime/program/library_test on a fake GPU.
#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/program/library_backend.h"

namespace yuba::runtime {

RunOptions LibraryOptions() {
  static const bool fake = (cuda::FakeLibraries(), cuda::Fake().memory = int64_t{1} << 34, true);
  if (!fake) return RunOptions();
  // Every eighth session times its products first.
  static int sessions = 0;
  RunOptions options = cuda::OnCuda();
  if (sessions++ % 8 == 0) options.cuda.tuning = std::make_shared<cuda::Tuning>();
  return options;
}

bool HasAllCalls() { return false; }

bool HasPostOpsOf(ElementType) { return true; }

}  // namespace yuba::runtime

#endif  // YUBA_WITH_CUDA
