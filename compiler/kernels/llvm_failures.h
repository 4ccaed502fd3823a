// What LLVM, which cannot report that it gets no memory, does then instead of ending the process by
// a signal.
#ifndef YUBA_COMPILER_KERNELS_LLVM_FAILURES_H_
#define YUBA_COMPILER_KERNELS_LLVM_FAILURES_H_

#include <new>

namespace yuba::kernels {

// While one lives, the process ends with a message and exit code 3 where memory is missing: an
// exception would pass through LLVM, which is not written for any, and leave its data broken to the
// destructors. The same for a fault that LLVM finds in itself, from the first on.
class LlvmFailures {
 public:
  LlvmFailures();
  ~LlvmFailures();
  LlvmFailures(const LlvmFailures&) = delete;

 private:
  const std::new_handler before_;
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LLVM_FAILURES_H_
