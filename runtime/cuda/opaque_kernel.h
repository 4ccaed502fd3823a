// Calls of an opaque function (opsemantics/opaque) on a GPU: one for each slice of the device's
// part. The table of who makes them for which function is in opaque_kernels.cc; what they compute
// is bit for bit what the host's function computes.
#ifndef YUBA_RUNTIME_CUDA_OPAQUE_KERNEL_H_
#define YUBA_RUNTIME_CUDA_OPAQUE_KERNEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cuda/gpu.h"
#include "runtime/opaque_slices.h"
#include "runtime/program/program.h"

namespace yuba::cuda {

class OpaqueKernel {
 public:
  virtual ~OpaqueKernel() = default;

  // Memory that no other work of the stream uses meanwhile, known before any is allocated.
  virtual int64_t workspace_bytes() const = 0;

  // Once: where the buffers of the operands and then of the result begin, and the workspace,
  // aligned to 256 bytes, all in the GPU's memory.
  virtual absl::Status Place(const std::vector<char*>& buffers, char* workspace,
                             cudaStream_t stream) = 0;

  // Starts all calls on the stream, which is the one of Place, and does not wait for them.
  virtual absl::Status Start(cudaStream_t stream) const = 0;
};

// What a kernel is made of.
struct OpaqueSite {
  runtime::OpaqueSlices slices;  // at least one call
  const program::OpaqueCalls& calls;
  bool hash = false;  // whether floats are elements of hash arithmetic
};

// Of `kernel`, which calls an opaque function, on a device that has slices of it. Takes no memory
// of the GPU, which outlives it. A user's error where GPUs do not compute the function: the program
// was not compiled for them.
absl::StatusOr<std::unique_ptr<OpaqueKernel>> MakeOpaqueKernel(
    const runtime::LoadedProgram& program, const program::Kernel& kernel, int device,
    const Gpu& gpu);

// The names of the functions that have a kernel here.
std::vector<const char*> OpaqueKernelNames();

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_OPAQUE_KERNEL_H_
