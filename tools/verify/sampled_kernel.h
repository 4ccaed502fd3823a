// One generated function of a program, run on a part of its work, in hash arithmetic: whether it
// computes what its definitions say, whatever the size of the model, and how fast.
//
// Example: a product of [4096, 4096] by [4096, 16384] on device 3 of 8. A part has 2 rows, 2
// columns and 1,024 of the 4,096 terms of each sum. There are buffers for what the part touches of
// both operands and of the result; operands hold numbers that follow from their positions.
#ifndef YUBA_TOOLS_VERIFY_SAMPLED_KERNEL_H_
#define YUBA_TOOLS_VERIFY_SAMPLED_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/function_uses.h"
#include "runtime/program/kernel_abi.h"
#include "runtime/program/program.pb.h"

namespace yuba::tools {

// A function of a program and the part of its work that is run. Owns nothing but `ranges`.
struct KernelPart {
  const program::Program* program = nullptr;
  const kernels::FunctionUse* use = nullptr;
  const kernels::NamedKernel* named = nullptr;
  runtime::HostKernel function = nullptr;
  std::vector<Interval> ranges;  // [index of the function]
};

// The terms of all definitions together that the part has; at most the largest int64_t.
int64_t TermsOf(const KernelPart& part);

struct SampleResult {
  bool fits = true;      // else the buffers would have more than kMostSampledElements, and the
                         // function was not run
  int64_t elements = 0;  // that were compared
  double seconds = 0;    // of the run
};
constexpr int64_t kMostSampledElements = int64_t{1} << 23;

// Runs the function on the part; `seed` tells the values of operands apart.
SampleResult RunSample(const KernelPart& part, uint64_t seed);

// The same, and compares all that the part computes with the interpreter. FailedPrecondition where
// an element differs: its tensor, its position and both values.
absl::StatusOr<SampleResult> CompareSample(const KernelPart& part, uint64_t seed);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_VERIFY_SAMPLED_KERNEL_H_
