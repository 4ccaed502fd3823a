#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_bound.h"
#include "search/check_held.h"
#include "search/check_memory.h"
#include "search/check_relaxed.h"

namespace yuba {
namespace {

struct Prices {
  std::map<std::pair<int, int>, const std::vector<int64_t>*> of;  // (tensor, node)
  std::map<int, std::vector<int64_t>> sums;                       // by tensor
};

absl::Status Refuse(const std::string& what) {
  return absl::FailedPreconditionError("the proof " + what);
}

absl::StatusOr<Prices> ReadPrices(const Graph& graph, const Plan& plan,
                                  const RelaxedTables& costs) {
  Prices prices;
  const int64_t most = MostUnits(graph);
  for (const DualMessage& message : plan.proof.messages) {
    if (message.tensor < 0 || message.tensor >= static_cast<int>(graph.tensors.size())) {
      return Refuse(absl::StrCat("has a message of tensor ", message.tensor, ", which is none"));
    }
    if (message.node < 0 || message.node >= static_cast<int>(graph.nodes.size())) {
      return Refuse(absl::StrCat("has a message of node ", message.node, ", which is none"));
    }
    const std::string& name = graph.tensors[message.tensor].name;
    const size_t count = costs.tensors[message.tensor];
    if (message.values.size() != count) {
      return Refuse(absl::StrCat("gives ", message.values.size(), " prices for ", name,
                                 ", which has ", count, " grids"));
    }
    std::vector<int64_t>& sum = prices.sums[message.tensor];
    sum.resize(count);
    for (size_t i = 0; i < count; ++i) {
      if (message.values[i] > most || message.values[i] < -most) {
        return Refuse(absl::StrCat("has a price of ", message.values[i]));
      }
      sum[i] += message.values[i];
    }
    if (!prices.of.emplace(std::make_pair(message.tensor, message.node), &message.values).second) {
      return Refuse(absl::StrCat("has two messages of ", name, " at node ", message.node));
    }
  }
  return prices;
}

absl::Status AddUpToNothing(const Graph& graph, const Prices& prices) {
  for (const auto& [tensor, sum] : prices.sums) {
    if (std::count(sum.begin(), sum.end(), 0) == static_cast<int64_t>(sum.size())) continue;
    return Refuse(
        absl::StrCat("has prices for ", graph.tensors[tensor].name, " that do not add up to 0"));
  }
  return absl::OkStatus();
}

// Adds the least cost of each node grid, times `units`, the tensor being cut at its best price.
void AddLeast(const RelaxedTables::Use& use, int grids, int64_t units,
              const std::vector<int64_t>* prices, std::vector<int64_t>* sum) {
  size_t cell = 0;
  for (int64_t& total : *sum) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int grid = 0; grid < grids; ++grid) {
      const int64_t price = prices == nullptr ? 0 : (*prices)[grid];
      least = std::min(least, (*use.cost)[cell++] * units - price);
    }
    total += least;
  }
}

// The sum over the nodes of the cheapest strategy, to which `sums` are added, by node and grid.
absl::StatusOr<int64_t> LeastOfNodes(const RelaxedTables& costs, const Prices& prices,
                                     int64_t units, std::vector<std::vector<int64_t>> sums) {
  size_t used = 0;
  for (const RelaxedTables::Use& use : costs.uses) {
    std::vector<int64_t>& sum = sums[use.node];
    sum.resize(costs.nodes[use.node]);
    auto found = prices.of.find({use.tensor, use.node});
    used += found != prices.of.end();
    AddLeast(use, costs.tensors[use.tensor], units,
             found == prices.of.end() ? nullptr : found->second, &sum);
  }
  if (used != prices.of.size()) {
    return Refuse("has a message of a node that does not use its tensor");
  }
  int64_t bound = 0;
  for (const std::vector<int64_t>& sum : sums) bound += *std::min_element(sum.begin(), sum.end());
  return bound;
}

// The same within a limit: what is in use is added at the prices on memory. What prices of a tensor
// do not add up to is paid back where it is least.
absl::StatusOr<int64_t> LeastWithinLimit(const Graph& graph, const Plan& plan,
                                         const RelaxedTables& costs, Prices prices) {
  const int64_t most = MostUnits(graph);
  for (const RelaxedTables::Use& use : costs.uses) {
    if (*std::max_element(use.cost->begin(), use.cost->end()) >= most / kPriceUnits) {
      return Refuse("is of costs that are too large for prices on memory");
    }
  }
  YUBA_ASSIGN_OR_RETURN(
      const PricedMemory memory,
      PricedUses(graph,
                 HeldByGrid(graph, plan.mesh, plan.space.replicate == "auto", plan.proof.prices),
                 plan.proof.prices, plan.space.memory));
  std::vector<std::vector<int64_t>> of_nodes(graph.nodes.size());
  const int tensors = static_cast<int>(graph.tensors.size());
  for (const CheckTable& table : memory.tables) {
    const int element = table.scope[0];
    std::vector<int64_t>& sum =
        element < tensors ? prices.sums[element] : of_nodes[element - tensors];
    sum.resize(table.cells->size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*table.cells)[i];
  }
  YUBA_ASSIGN_OR_RETURN(int64_t units,
                        LeastOfNodes(costs, prices, kPriceUnits, std::move(of_nodes)));
  for (const auto& [tensor, sum] : prices.sums) units += *std::min_element(sum.begin(), sum.end());
  if (__builtin_sub_overflow(units, memory.room, &units) || units <= 0) return 0;
  return units / kPriceUnits + (units % kPriceUnits != 0);
}

}  // namespace

absl::StatusOr<int64_t> ReplayDual(const Graph& graph, const Plan& plan) {
  const RelaxedTables costs =
      MakeRelaxedTables(graph, plan.mesh, plan.space.replicate == "auto");
  YUBA_ASSIGN_OR_RETURN(Prices prices, ReadPrices(graph, plan, costs));
  if (!plan.proof.prices.empty()) {
    if (plan.space.memory <= 0) {
      return Refuse("has prices on memory, the plan's space no limit");
    }
    return LeastWithinLimit(graph, plan, costs, std::move(prices));
  }
  YUBA_RETURN_IF_ERROR(AddUpToNothing(graph, prices));
  YUBA_ASSIGN_OR_RETURN(
      const int64_t bound,
      LeastOfNodes(costs, prices, 1, std::vector<std::vector<int64_t>>(graph.nodes.size())));
  return std::max<int64_t>(bound, 0);  // rounded prices may add up to less; no plan does
}

}  // namespace yuba
