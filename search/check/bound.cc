#include "search/check/bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check/memory.h"
#include "search/check/sweep.h"
#include "search/plan/price_scale.h"

namespace yuba::search {
namespace {

// Of one elimination: a few times what the search takes, which merges elements into clusters first.
constexpr Sweep::Limits kLimits = {int64_t{1} << 36, std::numeric_limits<int64_t>::max()};

// A lower bound of plans within the limit, in bytes: the least sum of costs and of bytes in use at
// their prices, less what the limit leaves at all prices (Lagrange; search/THEORY.md).
absl::StatusOr<int64_t> EliminateAtPrices(const Graph& graph, const Plan& plan,
                                          const CostTables& costs, const Stop& stop) {
  const PriceScale scale = PriceScaleOf(graph, plan.mesh.devices());
  YUBA_ASSIGN_OR_RETURN(
      const PricedMemory memory,
      PricedUses(graph, costs, CostsOf(costs.uses), plan.proof.prices, plan.space.memory));
  std::vector<CheckTable> tables = InUnits(scale, TablesOf(costs));
  tables.insert(tables.end(), memory.tables.begin(), memory.tables.end());
  YUBA_ASSIGN_OR_RETURN(
      const Remaining left,
      EliminatePlainly(graph, plan, costs, std::move(tables), plan.proof.order.size(), stop));
  int64_t units = 0;
  return __builtin_sub_overflow(left.least, memory.room, &units) ? 0 : BytesOfUnits(scale, units);
}

}  // namespace

absl::Status CheckOrder(const Graph& graph, const std::vector<int>& order) {
  std::vector<bool> seen(graph.tensors.size() + graph.nodes.size(), false);
  for (int element : order) {
    if (element < 0 || element >= static_cast<int>(seen.size()) || seen[element]) {
      return ProofError("the proof ", "names element ", element, ", which is none or comes twice");
    }
    seen[element] = true;
  }
  size_t missing = std::find(seen.begin(), seen.end(), false) - seen.begin();
  if (missing == seen.size()) return absl::OkStatus();
  return ProofError("the proof ", "leaves out element ", missing);
}

absl::StatusOr<Remaining> EliminatePlainly(const Graph& graph, const Plan& plan,
                                           const CostTables& costs, std::vector<CheckTable> tables,
                                           size_t count, const Stop& stop) {
  const std::vector<int>& order = plan.proof.order;
  YUBA_RETURN_IF_ERROR(CheckOrder(graph, order));
  Sweep sweep({order.begin(), order.begin() + static_cast<int64_t>(count)}, costs.renamed);
  for (CheckTable& table : tables) sweep.Place(std::move(table));
  YUBA_RETURN_IF_ERROR(sweep.Up(kLimits, stop));
  return sweep.left();
}

std::vector<CheckTable> TablesOf(const CostTables& costs) {
  std::map<const void*, bool> costs_nothing;
  std::vector<CheckTable> tables;
  for (const CostTables::Use& use : costs.uses) {
    const auto [zero, is_new] = costs_nothing.emplace(use.cost.get(), false);
    if (is_new) {
      zero->second =
          std::all_of(use.cost->begin(), use.cost->end(), [](int64_t cost) { return cost == 0; });
    }
    if (!zero->second) tables.push_back({{use.node, use.tensor}, use.cost});
  }
  return tables;
}

absl::StatusOr<int64_t> ReplayElimination(const Graph& graph, const Plan& plan, const Stop& stop) {
  YUBA_ASSIGN_OR_RETURN(const CostTables costs, MakeCostTables(graph, plan.mesh, plan.space, stop));
  if (plan.proof.prices.empty()) {
    YUBA_ASSIGN_OR_RETURN(
        const Remaining left,
        EliminatePlainly(graph, plan, costs, TablesOf(costs), plan.proof.order.size(), stop));
    return left.least;
  }
  if (plan.space.memory <= 0) {
    return ProofError("the proof has prices on memory, the plan's space no limit");
  }
  return EliminateAtPrices(graph, plan, costs, stop);
}

}  // namespace yuba::search
