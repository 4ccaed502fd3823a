// The replay of dual proofs: ReplayDual of bound.h.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "opsemantics/base/status.h"
#include "search/check/bound.h"
#include "search/check/held.h"
#include "search/check/memory.h"
#include "search/check/relaxed.h"
#include "search/check/use_minima.h"
#include "search/check/use_table.h"
#include "search/plan/price_scale.h"

namespace yuba::search {
namespace {

// The messages of a proof. Keys are (tensor, node), values by grid of the tensor.
struct Prices {
  std::map<std::pair<int, int>, const std::vector<int64_t>*> of;
  std::map<int, std::vector<int64_t>> sums;  // by tensor: all its messages added up
  // Costs to be added to the uses of a tensor by a node, [node grid][tensor grid].
  std::map<std::pair<int, int>, AddedCosts> added;
};

absl::StatusOr<Prices> ReadPrices(const Graph& graph, const std::vector<DualMessage>& messages,
                                  const RelaxedTables& costs) {
  Prices prices;
  const int64_t most = MostInProof(graph);
  for (const DualMessage& message : messages) {
    if (message.tensor < 0 || message.tensor >= static_cast<int>(graph.tensors.size())) {
      return ProofError("the proof has a message of tensor ", message.tensor, ", which is none");
    }
    if (message.node < 0 || message.node >= static_cast<int>(graph.nodes.size())) {
      return ProofError("the proof has a message of node ", message.node, ", which is none");
    }
    const std::string& name = graph.tensors[message.tensor].name;
    const size_t count = costs.tensors[message.tensor];
    if (message.values.size() != count) {
      return ProofError("the proof gives ", message.values.size(), " prices for ", name,
                        ", which has ", count, " grids");
    }
    std::vector<int64_t>& sum = prices.sums[message.tensor];
    sum.resize(count);
    for (size_t i = 0; i < count; ++i) {
      if (message.values[i] > most || message.values[i] < -most) {
        return ProofError("the proof has a price of ", message.values[i]);
      }
      sum[i] += message.values[i];
    }
    if (!prices.of.emplace(std::make_pair(message.tensor, message.node), &message.values).second) {
      return ProofError("the proof has two messages of ", name, " at node ", message.node);
    }
  }
  return prices;
}

// The sum over the nodes of their cheapest grid, each use at the best price of its tensor, and over
// the tensors of the least that their prices add up to. `sums`: costs of the nodes alone, by node
// and grid. No plan costs less, whatever the prices: its own grids are one term of each minimum,
// and the prices cancel.
absl::StatusOr<int64_t> LeastOfAll(const RelaxedTables& costs, const Prices& prices,
                                   const PriceScale& scale,
                                   std::vector<std::vector<int64_t>> sums) {
  size_t used = 0;
  std::map<std::pair<int, int>, UsesOfPair> uses;
  for (const RelaxedTables::Use& use : costs.uses) {
    if (!use.alike) {
      uses[{use.tensor, use.node}].push_back(use.cost);
      continue;
    }
    std::vector<int64_t>& sum = sums[use.node];
    sum.resize(costs.nodes[use.node]);
    const auto found = prices.of.find({use.tensor, use.node});
    if (found == prices.of.end()) continue;
    ++used;
    for (size_t grid = 0; grid < sum.size(); ++grid) sum[grid] -= (*found->second)[grid];
  }
  // Where blocks repeat, so do tables and prices.
  std::map<std::pair<UsesOfPair, std::vector<int64_t>>, std::vector<int64_t>> known;
  for (const auto& [pair, of_pair] : uses) {
    std::vector<int64_t>& sum = sums[pair.second];
    sum.resize(costs.nodes[pair.second]);
    const auto found = prices.of.find(pair);
    const auto added = prices.added.find(pair);
    used += found != prices.of.end();
    const std::vector<int64_t> here = found == prices.of.end()
                                          ? std::vector<int64_t>(costs.tensors[pair.first], 0)
                                          : *found->second;
    if (added != prices.added.end()) {
      AddLeast(of_pair, scale, here, added->second, &sum);
      continue;
    }
    const auto [least, is_new] = known.try_emplace({of_pair, here}, sum.size(), 0);
    if (is_new) AddLeast(of_pair, scale, here, {}, &least->second);
    for (size_t grid = 0; grid < sum.size(); ++grid) sum[grid] += least->second[grid];
  }
  if (used != prices.of.size()) {
    return ProofError("the proof has a message of a node that does not use its tensor");
  }
  int64_t bound = 0;
  for (const std::vector<int64_t>& sum : sums) bound += *std::min_element(sum.begin(), sum.end());
  for (const auto& [tensor, sum] : prices.sums) bound += *std::min_element(sum.begin(), sum.end());
  return bound;
}

// By node and grid: what its kernel costs, in units; empty where the objective is bytes.
std::vector<std::vector<int64_t>> KernelsOf(const Graph& graph, const RelaxedTables& costs,
                                            const PriceScale& scale) {
  std::vector<std::vector<int64_t>> kernels(graph.nodes.size());
  for (size_t n = 0; n < costs.kernels.size(); ++n) {
    for (const int64_t time : *costs.kernels[n]) kernels[n].push_back(UnitsOf(scale, time));
  }
  return kernels;
}

// Adds a table of priced memory where it belongs: to a use, to a tensor or to a node.
void AddPriced(const Graph& graph, const CheckTable& table, Prices* prices,
               std::vector<std::vector<int64_t>>* of_nodes) {
  const int tensors = static_cast<int>(graph.tensors.size()), element = table.scope[0];
  if (table.scope.size() == 2) {
    prices->added[{table.scope[1], element - tensors}].push_back(table.cells);
    return;
  }
  std::vector<int64_t>& sum =
      element < tensors ? prices->sums[element] : (*of_nodes)[element - tensors];
  sum.resize(table.cells->size());
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*table.cells)[i];
}

// The costs of uses, [node grid][tensor grid], of those nodes whose costs PricedUses looks at.
std::vector<CheckTable::Cells> CostsOf(const Graph& graph, const RelaxedTables& costs,
                                       const std::vector<MemoryPrice>& prices) {
  std::map<std::shared_ptr<const UseTable>, CheckTable::Cells> known;
  std::vector<CheckTable::Cells> all;
  for (const RelaxedTables::Use& use : costs.uses) {
    all.emplace_back();
    if (!ReadBoxes(graph, use.node, prices)) continue;
    CheckTable::Cells& whole = known[use.cost];
    if (whole == nullptr) {
      std::vector<int64_t> cells;
      for (size_t node = 0; node < use.cost->row_of.size(); ++node) {
        for (int grid = 0; grid < costs.tensors[use.tensor]; ++grid) {
          cells.push_back(use.cost->At(node, grid));
        }
      }
      whole = std::make_shared<const std::vector<int64_t>>(std::move(cells));
    }
    all.back() = whole;
  }
  return all;
}

// LeastOfAll with bytes in use added at the prices on memory, less the room at these prices: in
// bytes, of plans within the limit.
absl::StatusOr<int64_t> LeastWithinLimit(const Graph& graph, const Plan& plan,
                                         const RelaxedTables& costs) {
  const Proof& proof = plan.proof;
  YUBA_ASSIGN_OR_RETURN(const PinsOfElements pins, PinsOf(graph, plan.mesh, plan.space));
  const HeldElements held = HeldByGrid(graph, plan, pins);
  YUBA_ASSIGN_OR_RETURN(const PricedMemory memory,
                        PricedUses(graph, held, CostsOf(graph, costs, proof.prices), proof.prices,
                                   plan.space.memory));
  YUBA_ASSIGN_OR_RETURN(Prices given, ReadPrices(graph, proof.messages, costs));
  const PriceScale scale = PriceScaleOf(graph, plan.mesh.devices());
  std::vector<std::vector<int64_t>> of_nodes = KernelsOf(graph, costs, scale);
  for (const CheckTable& table : memory.tables) AddPriced(graph, table, &given, &of_nodes);
  YUBA_ASSIGN_OR_RETURN(int64_t units, LeastOfAll(costs, given, scale, std::move(of_nodes)));
  return __builtin_sub_overflow(units, memory.room, &units) ? 0 : BytesOfUnits(scale, units);
}

}  // namespace

absl::StatusOr<int64_t> ReplayDual(const Graph& graph, const Plan& plan, const Stop& stop) {
  YUBA_ASSIGN_OR_RETURN(
      const RelaxedTables costs,
      MakeRelaxedTables(graph, plan.mesh, plan.space, plan.proof.prices.empty(), stop));
  if (!plan.proof.prices.empty()) return LeastWithinLimit(graph, plan, costs);
  YUBA_ASSIGN_OR_RETURN(const Prices prices, ReadPrices(graph, plan.proof.messages, costs));
  const PriceScale scale = {1, MostInProof(graph)};
  YUBA_ASSIGN_OR_RETURN(const int64_t bound,
                        LeastOfAll(costs, prices, scale, KernelsOf(graph, costs, scale)));
  return std::max<int64_t>(bound, 0);  // rounded prices may add up to less; no plan does
}

}  // namespace yuba::search
