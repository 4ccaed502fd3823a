// All generated functions of a program in hash arithmetic, sampled: each is run on small parts of
// its work and compared with the interpreter (sampled_kernel.h). With `cover` (compiler/verify),
// which proves at full size that kernels are the graph's nodes, have what they read and write what
// others read, this says that a program computes what the model computes, without running it.
#ifndef YUBA_TOOLS_VERIFY_SAMPLED_KERNELS_H_
#define YUBA_TOOLS_VERIFY_SAMPLED_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/program.h"

namespace yuba::tools {

struct SampledKernels {
  int functions = 0;                  // that were run and are right
  std::vector<std::string> left_out;  // nodes of those that call a function of the process, or
                                      // touch too much at once
  int64_t elements = 0;               // that were compared
  // That all kernels of one run of the program would take, one after the other: measured on larger
  // parts of each function.
  double seconds = 0;
};

// `graph` is what the program was made from; the program has code for this machine. Each function
// is run at the beginning and the end of its last kernel's work on the first and the last device,
// and somewhere between. FailedPrecondition where one computes something else: node, tensor and
// element. The same for the same `seed`, but for the measured seconds.
absl::StatusOr<SampledKernels> SampleKernels(const Graph& graph,
                                             const runtime::LoadedProgram& program, uint64_t seed);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_VERIFY_SAMPLED_KERNELS_H_
