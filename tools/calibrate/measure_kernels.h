// Kernels measured through the run time, as programs run them.
#ifndef YUBA_TOOLS_CALIBRATE_MEASURE_KERNELS_H_
#define YUBA_TOOLS_CALIBRATE_MEASURE_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/kernel_cases.h"
#include "tools/calibrate/repeats.h"

namespace yuba::tools {

struct MeasuredKernels {
  double launch = 0;  // seconds of a kernel without work
  std::vector<KernelSample> samples;
  std::vector<double> spreads;  // of the repeats, parallel to samples
};

// Runs each case on one device of the back end, "host" or "cuda": in generated code, and by a
// library where that has it. Where devices share processors, each of `processors` devices runs it
// at the same time, on one: as in programs nobody has caches and memory alone, and what sharing a
// kernel out costs is not in its time. Errors are those of compiling and of sessions.
absl::StatusOr<MeasuredKernels> MeasureKernels(const std::string& backend, int processors);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_MEASURE_KERNELS_H_
