// Where the slices of an opaque function's calls lie in the buffers of one device: what processors
// (host/opaque_kernel.h) and GPUs (cuda/opaque_kernel.h) share.
//
// Example: at[i, p] = opaque argsort(j: 8) x[i, j], f32, on a device that runs i over [2, 4) and
// whose buffer of x begins at row 1: two calls; x begins 32 bytes into its buffer, and the loop
// over i steps by 32 bytes of x and 64 of `at`.
#ifndef YUBA_RUNTIME_OPAQUE_SLICES_H_
#define YUBA_RUNTIME_OPAQUE_SLICES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/opaque/opaque_function.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// One tensor's slice at the first call.
struct PlacedSlice {
  int64_t first = 0;             // bytes from the buffer's start to its first element
  std::vector<int64_t> strides;  // [dimension of the slice], in elements
  int64_t element_bytes = 0;
};

// An index along which calls are numbered.
struct CallLoop {
  int64_t extent = 1;
  std::vector<int64_t> argument_steps;  // bytes: [argument], 0 where it does not have the index
  int64_t result_step = 0;              // bytes
};

struct OpaqueSlices {
  OpaqueSignature signature;
  std::vector<PlacedSlice> arguments;
  PlacedSlice result;
  std::vector<CallLoop> loops;  // the last one is the fastest
  int64_t calls = 1;            // 0: the buffers may hold nothing, and the slices are not placed
};

// `kernel` calls an opaque function.
OpaqueSlices PlaceSlices(const LoadedProgram& program, const program::Kernel& kernel, int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_OPAQUE_SLICES_H_
