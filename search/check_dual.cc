#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_bound.h"
#include "search/check_relaxed.h"

namespace yuba {
namespace {

constexpr int64_t kMostPrice = int64_t{1} << 46;  // so that no sum of prices overflows

using Prices = std::map<std::pair<int, int>, const std::vector<int64_t>*>;  // (tensor, node)

absl::Status Refuse(const std::string& what) {
  return absl::FailedPreconditionError("the proof " + what);
}

absl::StatusOr<Prices> ReadPrices(const Graph& graph, const Plan& plan,
                                  const RelaxedTables& costs) {
  Prices prices;
  std::map<int, std::vector<int64_t>> sums;  // by tensor
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
    std::vector<int64_t>& sum = sums[message.tensor];
    sum.resize(count);
    for (size_t i = 0; i < count; ++i) {
      if (message.values[i] > kMostPrice || message.values[i] < -kMostPrice) {
        return Refuse(absl::StrCat("has a price of ", message.values[i]));
      }
      sum[i] += message.values[i];
    }
    if (!prices.emplace(std::make_pair(message.tensor, message.node), &message.values).second) {
      return Refuse(absl::StrCat("has two messages of ", name, " at node ", message.node));
    }
  }
  for (const auto& [tensor, sum] : sums) {
    if (std::count(sum.begin(), sum.end(), 0) == static_cast<int64_t>(sum.size())) continue;
    return Refuse(
        absl::StrCat("has prices for ", graph.tensors[tensor].name, " that do not add up to 0"));
  }
  return prices;
}

// Adds the least cost of each node grid, the tensor being cut at its best price.
void AddLeast(const RelaxedTables::Use& use, int grids, const std::vector<int64_t>* prices,
              std::vector<int64_t>* sum) {
  size_t cell = 0;
  for (int64_t& total : *sum) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int grid = 0; grid < grids; ++grid) {
      least = std::min(least, (*use.cost)[cell++] - (prices == nullptr ? 0 : (*prices)[grid]));
    }
    total += least;
  }
}

}  // namespace

absl::StatusOr<int64_t> ReplayDual(const Graph& graph, const Plan& plan) {
  RelaxedTables costs = MakeRelaxedTables(graph, plan.mesh);
  YUBA_ASSIGN_OR_RETURN(Prices prices, ReadPrices(graph, plan, costs));
  std::vector<std::vector<int64_t>> sums(graph.nodes.size());
  size_t used = 0;
  for (const RelaxedTables::Use& use : costs.uses) {
    std::vector<int64_t>& sum = sums[use.node];
    sum.resize(costs.nodes[use.node]);
    auto found = prices.find({use.tensor, use.node});
    used += found != prices.end();
    AddLeast(use, costs.tensors[use.tensor], found == prices.end() ? nullptr : found->second, &sum);
  }
  if (used != prices.size()) return Refuse("has a message of a node that does not use its tensor");
  int64_t bound = 0;
  for (const std::vector<int64_t>& sum : sums) bound += *std::min_element(sum.begin(), sum.end());
  return std::max<int64_t>(bound, 0);  // rounded prices may add up to less; no plan does
}

}  // namespace yuba
