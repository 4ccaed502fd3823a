#include "tools/bench/paper/step_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "opsemantics/sharding/work.h"

namespace yuba::tools {
namespace {

// By class: the share of the rate for products and convolutions, of the bandwidth for the others.
using Shares = std::vector<double>;

bool IsLibrarys(KernelClass kernel_class) {
  return kernel_class == KernelClass::kProduct || kernel_class == KernelClass::kConvolution;
}

void SetShares(const Shares& shares, Machine& machine) {
  for (int c = 0; c < kKernelClasses; ++c) {
    KernelModel model;
    double& share =
        IsLibrarys(static_cast<KernelClass>(c)) ? model.rate_share : model.bandwidth_share;
    share = shares[c];
    for (auto& of_code : machine.device.kernels) of_code[c] = model;
  }
}

double Error(const std::vector<StepSample>& samples, const Shares& shares, Machine& machine) {
  SetShares(shares, machine);
  double error = 0;
  for (const StepSample& sample : samples) {
    const double off = std::log(SecondsOf(sample, machine) / sample.seconds);
    error += off * off;
  }
  return error;
}

}  // namespace

std::vector<std::pair<KernelWork, int>> KernelsOf(const Graph& graph) {
  std::map<const Definition*, int> times;
  for (const Node& node : graph.nodes) {
    if (!IsCopy(graph, node)) ++times[node.definition.get()];
  }
  // Equal work of different definitions is one row, so that fits are quick.
  std::map<std::tuple<int, int, std::vector<double>>, std::pair<KernelWork, int>> rows;
  for (const auto& [definition, count] : times) {
    std::vector<Interval> ranges;
    for (const Index& index : definition->indices) ranges.push_back({0, index.extent});
    const DefinitionWork work = WorkOf(*definition, ranges);
    const KernelWork kernel = work.Kernel(IsLibrarys(work.kernel_class));
    std::vector<double> numbers = {kernel.operations, kernel.bytes, kernel.results};
    numbers.insert(numbers.end(), std::begin(kernel.extras), std::end(kernel.extras));
    auto& row =
        rows[{static_cast<int>(kernel.kernel_class), static_cast<int>(kernel.type), numbers}];
    row.first = kernel;
    row.second += count;
  }
  std::vector<std::pair<KernelWork, int>> kernels;
  for (const auto& row : rows) kernels.push_back(row.second);
  return kernels;
}

double SecondsOf(const StepSample& sample, const Machine& machine) {
  double seconds = 0;
  for (const auto& [kernel, times] : sample.kernels) {
    seconds += times * (machine.device.launch + KernelSeconds(machine, kernel));
  }
  return seconds;
}

void FitSteps(const std::vector<StepSample>& samples, Machine& machine) {
  Shares best(kKernelClasses, 0.5);
  double least = Error(samples, best, machine);
  for (double factor = 2; factor > 1.002; factor = std::sqrt(factor)) {
    for (bool better = true; better;) {
      better = false;
      for (int c = 0; c < kKernelClasses; ++c) {
        for (const double step : {factor, 1 / factor}) {
          Shares shares = best;
          shares[c] = std::clamp(shares[c] * step, 1e-3, 1.0);
          const double error = Error(samples, shares, machine);
          if (error >= least) continue;
          least = error;
          best = shares;
          better = true;
        }
      }
    }
  }
  SetShares(best, machine);
}

}  // namespace yuba::tools
