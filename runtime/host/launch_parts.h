// How the threads of a device share out one launch of generated code: along one of the indices that
// the compiler allows (program.proto, IndexSplit), if there is enough to do.
#ifndef YUBA_RUNTIME_HOST_LAUNCH_PARTS_H_
#define YUBA_RUNTIME_HOST_LAUNCH_PARTS_H_

#include <cstdint>
#include <vector>

#include "runtime/program/program.h"

namespace yuba::runtime {

// The fewest points of the iteration space that are worth a thread. Most kernels take 0.1 to 1 ns a
// point, and a call that wakes one worker and waits for it takes 4 to 12 us on an idle machine
// (EPYC Zen 5, two cores; thread_team.h): with fewer points sharing would save nothing.
constexpr int64_t kPointsPerThread = int64_t{1} << 15;

// The fewest multiplications of library products that are worth a thread: 10 us of one core, a
// wake-up.
constexpr double kProductsPerThread = 1e6;

// The arguments (kernel_abi.h) of the calls that together are the launch of `kernel` on `device`
// with `arguments`: one call where it cannot be shared or is too small, at most `threads`. Along
// the split index the parts follow each other, begin where IndexSplit allows, and differ in length
// by at most one step. The kernel is generated code.
std::vector<std::vector<int64_t>> LaunchParts(const LoadedProgram& program,
                                              const program::Kernel& kernel, int device,
                                              int threads, const std::vector<int64_t>& arguments);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_LAUNCH_PARTS_H_
