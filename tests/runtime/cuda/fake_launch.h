// Launches of generated kernels on fake GPUs, thread by thread, as the back end starts them.
//
// Example: fills the launch at hand, and runs it on buffers and arguments of kernel_abi.h:
//   const std::unique_ptr<Object> object = Prepare(kernel, target);
//   LaunchAtHand().buffers = 2;
//   RunLaunch(buffers, arguments);
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_LAUNCH_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_LAUNCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "tests/runtime/cuda/fake_warps.h"

namespace yuba::kernels {

struct Launch {
  std::vector<std::unique_ptr<cuda::ObjectKernel>> code;  // [plan]
  std::vector<ThreadPlan> plans;
  // Of a kernel with sections, [plan]: the kernel's indices that the section's first definition
  // has.
  std::vector<std::vector<int>> sections;
  int buffers = 0, arguments = 0;  // of the kernel
};
// One in the process: those who run kernels call plain functions.
Launch& LaunchAtHand();

// A shared object of generated code, opened as the fake driver does it.
class Object {
 public:
  explicit Object(absl::string_view image);
  Object(const Object&) = delete;
  ~Object();
  void* handle() const { return handle_; }

 private:
  int file_;
  void* handle_ = nullptr;
};

using Generator = absl::StatusOr<std::string> (*)(const std::vector<NamedKernel>&,
                                                  const KernelTarget&);
// Makes the code of a kernel and fills the launch at hand, which is as long as the object is there.
std::unique_ptr<Object> Prepare(const NamedKernel& kernel, const KernelTarget& target,
                                Generator generate = GenerateKernels);

// All threads of the launch at hand.
void RunLaunch(void* const* buffers, const int64_t* arguments);

// What is known of a kernel's arguments when its code is generated: all, how many values indices
// have and how large buffers are but not where they begin, all but how many values the first index
// has, or nothing.
enum class Known { kAll, kExtents, kButFirst, kNothing };

// "" where the kernel computes on `ranges` what the interpreter does, else what is wrong. `text`
// gets the thread plan's text.
std::string CompareOnThreads(const Definition& definition, const std::vector<Interval>& ranges,
                             Known known, Arithmetic arithmetic, std::string* text);

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_LAUNCH_H_
