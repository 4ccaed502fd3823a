#include "search/check/bound.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "opsemantics/base/status.h"
#include "search/check/eliminate.h"
#include "search/check/memory.h"
#include "search/check/minimum.h"
#include "search/check/tables.h"
#include "search/plan/price_scale.h"

namespace yuba::search {
namespace {

// An error unless the order has each tensor and each node once.
absl::Status CheckOrder(const Graph& graph, const std::vector<int>& order) {
  std::vector<bool> seen(graph.tensors.size() + graph.nodes.size(), false);
  for (int element : order) {
    if (element < 0 || element >= static_cast<int>(seen.size()) || seen[element]) {
      return ProofError("the proof names element ", element, ", which is none or comes twice");
    }
    seen[element] = true;
  }
  size_t missing = std::find(seen.begin(), seen.end(), false) - seen.begin();
  if (missing == seen.size()) return absl::OkStatus();
  return ProofError("the proof leaves out element ", missing);
}

// A table for each use that may cost something, over node and tensor. Others would only make
// elements meet in tables, for nothing.
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
  const int tensors = static_cast<int>(costs.sizes.size() - costs.kernels.size());
  for (size_t n = 0; n < costs.kernels.size(); ++n) {
    tables.push_back({{tensors + static_cast<int>(n)}, costs.kernels[n]});
  }
  return tables;
}

// Costs above `most`, of which all together could be more than 64 bits hold, count as that, which
// only lowers the bound.
std::vector<CheckTable> Counted(int64_t most, std::vector<CheckTable> tables) {
  const bool fit = std::all_of(tables.begin(), tables.end(), [most](const CheckTable& table) {
    return std::all_of(table.cells->begin(), table.cells->end(),
                       [most](int64_t cell) { return cell <= most; });
  });
  return fit ? tables : InUnits({1, most}, std::move(tables));
}

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
  YUBA_ASSIGN_OR_RETURN(int64_t units,
                        LeastInOrder(plan.proof.order, costs.renamed, std::move(tables), stop));
  return __builtin_sub_overflow(units, memory.room, &units) ? 0 : BytesOfUnits(scale, units);
}

}  // namespace

absl::StatusOr<int64_t> ReplayElimination(const Graph& graph, const Plan& plan, const Stop& stop) {
  YUBA_RETURN_IF_ERROR(CheckOrder(graph, plan.proof.order));
  YUBA_ASSIGN_OR_RETURN(const CostTables costs, MakeCostTables(graph, plan.mesh, plan.space, stop));
  if (plan.proof.prices.empty()) {
    return LeastInOrder(plan.proof.order, costs.renamed,
                        Counted(MostInProof(graph), TablesOf(costs)), stop);
  }
  return EliminateAtPrices(graph, plan, costs, stop);
}

}  // namespace yuba::search
