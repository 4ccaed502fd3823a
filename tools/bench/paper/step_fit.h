// Kernel models from whole steps: of each program only the seconds of all its kernels together are
// known, as a paper prints them for one GPU.
//
// Four shares are found: of the device's rate that convolutions and products reach, and of its
// bandwidth that maps and reductions do. They make the sum of squares of ln(predicted / measured)
// small, so that twice too long counts as much as half as long. The search is by coordinates on a
// finer and finer grid: equal samples give equal models.
#ifndef YUBA_TOOLS_BENCH_PAPER_STEP_FIT_H_
#define YUBA_TOOLS_BENCH_PAPER_STEP_FIT_H_

#include <string>
#include <utility>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/machine/machine.h"

namespace yuba::tools {

struct StepSample {
  std::string name;
  std::vector<std::pair<KernelWork, int>> kernels;  // each with how often it runs in a step
  double seconds = 0;                               // measured, above 0
};

// The kernels of a step of the graph on one device, which computes all of it. Products and
// convolutions are a library's.
std::vector<std::pair<KernelWork, int>> KernelsOf(const Graph& graph);

// Seconds of all kernels with their launches.
double SecondsOf(const StepSample& sample, const Machine& machine);

// Sets the models of all classes, for libraries and generated code alike; rates, bandwidth and
// launch of the device are given.
void FitSteps(const std::vector<StepSample>& samples, Machine& machine);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_PAPER_STEP_FIT_H_
