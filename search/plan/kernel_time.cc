#include "search/plan/kernel_time.h"

#include <vector>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/sharding/work.h"

namespace yuba::search {

int64_t KernelTime(const Graph& graph, NodeId node, const Grid& grid, const Objective& objective) {
  if (IsCopy(graph, graph.nodes[node])) return 0;
  const Definition& whole = *graph.nodes[node].definition;
  const std::vector<int> parts = PartsOf(grid);
  // A device computes for its own group alone.
  const bool groups = !whole.partial_operands.empty();
  const Definition in_groups = groups ? InGroups(whole, parts.back()) : Definition();
  const Definition& definition = groups ? in_groups : whole;
  std::vector<Interval> ranges;
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    ranges.push_back({0, CeilDiv(definition.indices[i].extent, parts[i])});
  }
  const DefinitionWork work = WorkOf(definition, ranges);
  const bool library =
      work.kernel_class == KernelClass::kProduct || work.kernel_class == KernelClass::kConvolution;
  return objective.Kernel(work.Kernel(library));
}

}  // namespace yuba::search
