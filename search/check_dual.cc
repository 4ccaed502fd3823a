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
  std::map<std::pair<int, int>, CheckTable::Cells> buffers;       // (tensor, node), to be added
};

absl::Status Refuse(const std::string& what) {
  return absl::FailedPreconditionError("the proof " + what);
}

absl::StatusOr<Prices> ReadPrices(const Graph& graph, const Plan& plan,
                                  const RelaxedTables& costs) {
  Prices prices;
  const int64_t most = MostInProof(graph);
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

// A cost in so many units for each byte, `most` bytes at most.
struct Scale {
  int64_t units, most;
};

// Adds the least cost of each node grid, the tensor being cut at its best price.
void AddLeast(const RelaxedTables::Use& use, int grids, const Scale& scale,
              const std::vector<int64_t>* prices, const CheckTable::Cells& buffers,
              std::vector<int64_t>* sum) {
  size_t cell = 0;
  for (int64_t& total : *sum) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int grid = 0; grid < grids; ++grid, ++cell) {
      const int64_t price = prices == nullptr ? 0 : (*prices)[grid];
      const int64_t buffer = buffers == nullptr ? 0 : (*buffers)[cell];
      const int64_t moved = std::min((*use.cost)[cell], scale.most) * scale.units;
      least = std::min(least, moved + buffer - price);
    }
    total += least;
  }
}

// The sum over the nodes of the cheapest strategy, to which `sums` are added, by node and grid.
// What prices of a tensor do not add up to is paid back where it is least.
absl::StatusOr<int64_t> LeastOfAll(const RelaxedTables& costs, const Prices& prices,
                                   const Scale& scale, std::vector<std::vector<int64_t>> sums) {
  size_t used = 0;
  for (const RelaxedTables::Use& use : costs.uses) {
    std::vector<int64_t>& sum = sums[use.node];
    sum.resize(costs.nodes[use.node]);
    const auto found = prices.of.find({use.tensor, use.node});
    const auto buffers = prices.buffers.find({use.tensor, use.node});
    used += found != prices.of.end();
    AddLeast(use, costs.tensors[use.tensor], scale,
             found == prices.of.end() ? nullptr : found->second,
             buffers == prices.buffers.end() ? nullptr : buffers->second, &sum);
  }
  if (used != prices.of.size()) {
    return Refuse("has a message of a node that does not use its tensor");
  }
  int64_t bound = 0;
  for (const std::vector<int64_t>& sum : sums) bound += *std::min_element(sum.begin(), sum.end());
  for (const auto& [tensor, sum] : prices.sums) bound += *std::min_element(sum.begin(), sum.end());
  return bound;
}

// The same within a limit: what is in use is added at the prices on memory.
absl::StatusOr<int64_t> LeastWithinLimit(const Graph& graph, const Plan& plan,
                                         const RelaxedTables& costs, Prices prices) {
  YUBA_ASSIGN_OR_RETURN(
      const PricedMemory memory,
      PricedUses(graph,
                 HeldByGrid(graph, plan.mesh, plan.space.replicate == "auto", plan.proof.prices),
                 CostsOf(costs.uses), plan.proof.prices, plan.space.memory));
  std::vector<std::vector<int64_t>> of_nodes(graph.nodes.size());
  const int tensors = static_cast<int>(graph.tensors.size());
  for (const CheckTable& table : memory.tables) {
    const int element = table.scope[0];
    if (table.scope.size() == 2) {
      prices.buffers[{table.scope[1], element - tensors}] = table.cells;
      continue;
    }
    std::vector<int64_t>& sum =
        element < tensors ? prices.sums[element] : of_nodes[element - tensors];
    sum.resize(table.cells->size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*table.cells)[i];
  }
  const Scale scale = {kPriceUnits, MostInProof(graph) / kPriceUnits};
  YUBA_ASSIGN_OR_RETURN(int64_t units, LeastOfAll(costs, prices, scale, std::move(of_nodes)));
  return __builtin_sub_overflow(units, memory.room, &units) ? 0 : BytesOfUnits(units);
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
  YUBA_ASSIGN_OR_RETURN(
      const int64_t bound,
      LeastOfAll(costs, prices, {1, MostInProof(graph)},
                 std::vector<std::vector<int64_t>>(graph.nodes.size())));
  return std::max<int64_t>(bound, 0);  // rounded prices may add up to less; no plan does
}

}  // namespace yuba
