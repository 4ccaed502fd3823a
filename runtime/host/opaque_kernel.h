// Calls of an opaque function on one virtual device: one for each slice of the device's part,
// shared out over its threads. A slice is computed by one thread, so any number of threads gives
// the same bits.
#ifndef YUBA_RUNTIME_HOST_OPAQUE_KERNEL_H_
#define YUBA_RUNTIME_HOST_OPAQUE_KERNEL_H_

#include <cstdint>
#include <vector>

#include "opsemantics/opaque/opaque_function.h"
#include "runtime/host/thread_team.h"
#include "runtime/opaque_slices.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

class OpaqueKernel {
 public:
  // `kernel` calls an opaque function. `buffers` are the addresses of the buffers of its operands,
  // then of its result, and stay valid.
  OpaqueKernel(const LoadedProgram& program, const program::Kernel& kernel, int device,
               const std::vector<void*>& buffers);

  void Run(ThreadTeam& team) const;

 private:
  void RunCalls(int64_t begin, int64_t end) const;

  const OpaqueFunction* function_;
  OpaqueCall first_;  // the call at the first point of the device's part
  std::vector<CallLoop> loops_;
  int64_t calls_ = 1;
  int64_t points_ = 0;  // elements of all slices of the call, to see what is worth a thread
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_OPAQUE_KERNEL_H_
