#include "search/portfolio/copies_limit.h"

#include "search/rewrite/copies.h"

namespace yuba::search {
namespace {

// A search within a limit takes many times as long as one without, so a plan at most 1/10 above the
// limit is kept.
constexpr int64_t kSlackDivisor = 10;

// The plan in which each copy has the sharding of its tensor, and so takes and saves nothing.
Plan WithoutSharing(const Graph& graph, Plan plan) {
  for (const Node& node : graph.nodes) {
    if (!IsCopy(graph, node)) continue;
    plan.tensors[node.result] = plan.tensors[node.operands[0]];
    plan.nodes[&node - graph.nodes.data()] = plan.tensors[node.result];
  }
  return plan;
}

}  // namespace

int64_t LimitForCopies(const PlannedGraph& found, const SearchOptions& options) {
  const Plan& plan = found.plan;
  if (!plan.space.copies || plan.space.memory > 0 || !options.memory_of) return 0;
  const Plan bare = WithoutSharing(found.graph, plan);
  if (bare.tensors == plan.tensors) return 0;
  const int64_t limit = options.memory_of(found.graph, bare) / 2 * 3;
  return options.memory_of(found.graph, plan) > limit + limit / kSlackDivisor ? limit : 0;
}

}  // namespace yuba::search
