// The kernels that a calibration runs: products, convolutions, maps and reductions of sizes that
// models have, from descriptions of its own.
#ifndef YUBA_TOOLS_CALIBRATE_KERNEL_CASES_H_
#define YUBA_TOOLS_CALIBRATE_KERNEL_CASES_H_

#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/machine/machine.h"

namespace yuba::tools {

struct KernelCase {
  std::string name;  // "product 512 x 512 x 512"
  KernelClass kernel_class;
  Graph graph;  // one node, of inputs and one output
};

// The product that runs before a map or a reduction where these are timed, as in programs: the
// threads of a library are awake then.
Graph ProductBefore();

// The nodes of `before`, then those of `graph`.
Graph Joined(const Graph& before, const Graph& graph);

// In a fixed order. What takes more operations than `most` is left out.
std::vector<KernelCase> KernelCases(double most_operations);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_KERNEL_CASES_H_
