// What generated kernels for GPUs touch of memory: their accesses as the GPU's code has them,
// neighbouring elements as one, noted while fake threads run.
//
// Example: of a warp whose threads read 16 bytes each side by side, one access touches 16 sectors
// of 32 bytes, as few as there are in 512 bytes; of one whose threads read 4 bytes 4 kB apart, one
// touches 32 sectors, where 4 would hold as many bytes.
#ifndef YUBA_TESTS_RUNTIME_CUDA_TRACED_ACCESSES_H_
#define YUBA_TESTS_RUNTIME_CUDA_TRACED_ACCESSES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/targets.h"

namespace yuba::kernels {

// Code of kernels for fake GPUs (for_processors.h) that calls yuba_trace before each access.
absl::StatusOr<std::string> GenerateTraced(const std::vector<NamedKernel>& kernels,
                                           const KernelTarget& target);

// What all warps touch together, of loads or of stores.
struct Touched {
  int64_t accesses = 0;  // of warps, each by all of its threads that make it
  int64_t sectors = 0;   // distinct ones of each access, over all
  int64_t bytes = 0;     // distinct ones, in the same way
  // Sectors for each that would hold as many bytes.
  double Ratio() const { return 32.0 * static_cast<double>(sectors) / static_cast<double>(bytes); }
  // Bytes of an access for each thread of a warp.
  double Width() const { return static_cast<double>(bytes) / static_cast<double>(32 * accesses); }
};
struct TouchedMemory {
  Touched read, written;
};

// Runs a kernel of one stage, all of whose arguments are known and whose code GenerateTraced has
// made, on buffers of its operands and results of so many bytes each, filled with zeros.
TouchedMemory RunTraced(const NamedKernel& kernel, const KernelTarget& target,
                        const std::vector<int64_t>& buffer_bytes);

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_RUNTIME_CUDA_TRACED_ACCESSES_H_
