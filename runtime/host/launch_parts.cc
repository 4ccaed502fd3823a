#include "runtime/host/launch_parts.h"

#include <algorithm>

namespace yuba::runtime {
namespace {

// Threads that the launch is worth: one for each kPointsPerThread points of all its definitions.
int64_t ThreadsWorth(const LoadedProgram& program, const program::Kernel& kernel, int device,
                     int threads) {
  int64_t all = 0;
  for (const auto& definition : program.message().functions(kernel.function()).definitions()) {
    int64_t points = 1;
    for (const int index : definition.indices()) {
      // Beyond the most that matters nothing is counted, so that nothing overflows.
      const int64_t size = program.IntervalOf(kernel.indices(index), device).size();
      points = std::min(points * std::min(size, int64_t{1} << 20), int64_t{1} << 40);
    }
    all = std::min(all + points, int64_t{1} << 40);
  }
  return std::min<int64_t>(threads, all / kPointsPerThread);
}

}  // namespace

std::vector<std::vector<int64_t>> LaunchParts(const LoadedProgram& program,
                                              const program::Kernel& kernel, int device,
                                              int threads, const std::vector<int64_t>& arguments) {
  const int64_t worth = ThreadsWorth(program, kernel, device, threads);
  if (worth < 2) return {arguments};
  const Box result = program.BufferBox(kernel.results(0).buffer(), device);
  const program::IndexSplit* best = nullptr;
  Interval range;      // of the best split's index
  double longest = 1;  // of its parts, as a share of the launch
  int64_t parts = 1;
  for (const auto& split : program.message().functions(kernel.function()).splits()) {
    const Interval whole = Intersect(program.IntervalOf(kernel.indices(split.index()), device),
                                     result[split.result_dim()]);
    const int64_t steps = (whole.size() + split.step() - 1) / split.step();
    const int64_t possible = std::min(worth, steps);
    if (possible < 2) continue;
    const int64_t largest = (steps + possible - 1) / possible;
    const double share = static_cast<double>(largest) / static_cast<double>(steps);
    if (share >= 0.9 * longest) continue;  // an outer loop is better than parts that differ little
    best = &split;
    range = whole;
    longest = share;
    parts = possible;
  }
  if (best == nullptr) return {arguments};
  const int64_t steps = (range.size() + best->step() - 1) / best->step();
  std::vector<std::vector<int64_t>> calls;
  for (int64_t part = 0; part < parts; ++part) {
    calls.push_back(arguments);
    int64_t* const bounds = &calls.back()[2 * best->index()];
    bounds[0] = range.begin + part * steps / parts * best->step();
    bounds[1] = std::min(range.end, range.begin + (part + 1) * steps / parts * best->step());
  }
  return calls;
}

}  // namespace yuba::runtime
