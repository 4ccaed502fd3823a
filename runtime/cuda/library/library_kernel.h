// A library call on one device, and the table of who makes one for which kind of call
// (library_kernels.cc). A device knows no kinds: it asks for the kernel, gives it memory and starts
// it.
//
// Example: a product f32 16 x 64 by 64 x 32 becomes one kernel, which needs no workspace where its
// operands are dense. `kernel->Run({x, y, z}, nullptr)` starts it on the device's stream.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_LIBRARY_KERNEL_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_LIBRARY_KERNEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/contraction.h"
#include "runtime/cuda/library/library_handles.h"

namespace yuba::cuda {

class LibraryKernel {
 public:
  virtual ~LibraryKernel() = default;

  // Starts the call on the stream of its handles and does not wait for it. Pointers are into the
  // GPU's memory: `buffers` to the starts of the buffers of the kernel instruction's operands, then
  // of its results, then that of a joint call's second result, as the LibrarySite numbers them and
  // says where they are; `workspace` to workspace_bytes() that no other work of the stream uses
  // meanwhile, aligned to 256 bytes. The call writes to those of results alone.
  virtual absl::Status Run(absl::Span<char* const> buffers, char* workspace) = 0;
  virtual int64_t workspace_bytes() const = 0;

  // Whether it leaves elements of the result as they are, of which all are to be zeros before it.
  virtual bool has_gaps() const { return false; }
};

// A second kernel, to be computed in the same call.
struct JointSite {
  const program::JointCall& call;
  const program::Kernel& other;
};

// The call of one kernel instruction on one device.
struct LibrarySite {
  const runtime::LoadedProgram& program;
  const program::Kernel& kernel;
  int device = 0;
  const runtime::LibraryShape& shape;  // has a result and terms
  // Where the buffers of the kernel's operands begin, then those of its results, then that of the
  // second kernel's, and of a slope that of what it is at: bytes, from an address aligned to 256.
  std::vector<int64_t> offsets;
  const JointSite* joint = nullptr;  // null: the call is of this instruction alone

  const program::LibraryCall& call() const {
    return program.message().functions(kernel.function()).library();
  }
  // Positions in `offsets` and in the buffers that Run gets.
  int left() const { return call().left(); }
  int right() const { return call().right(); }
  int result() const { return kernel.operands_size(); }
  int joint_result() const { return kernel.operands_size() + kernel.results_size(); }
};

// The kernel of a call. Nothing on the GPU is started, and of its memory no more taken than what
// the library has for itself. Unavailable where the library is missing or too old, Unimplemented
// where it does not have this call: generated code would do. `handles` outlive the kernel.
absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeLibraryKernel(const LibrarySite& site,
                                                                 LibraryHandles& handles);

// The library that MakeLibraryKernel takes for calls of this kind, for people: "cuBLAS".
const char* LibraryOf(program::LibraryCall::Kind kind);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_LIBRARY_KERNEL_H_
