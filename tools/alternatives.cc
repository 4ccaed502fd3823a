#include "tools/alternatives.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "compiler/search_model.h"
#include "search/check/part_counts.h"
#include "search/plan/grid.h"
#include "search/search.h"

namespace yuba::tools {
namespace {

// The choices that cut the tensor into the most parts, one for each grid.
std::vector<search::Choice> MostParts(const Mesh& mesh, const Tensor& tensor) {
  int64_t most = 0;
  std::vector<search::Choice> choices;
  for (const search::Grid& grid : search::EveryTensorGrid(mesh, tensor, false, {})) {
    const int64_t parts = search::Product(search::PartsOf(grid));
    if (parts > most) choices.clear();
    most = std::max(most, parts);
    if (parts == most) choices.push_back(search::CutIntoParts(mesh, grid));
  }
  return choices;
}

// [tensor]: bytes that move of it.
absl::flat_hash_map<TensorId, int64_t> MovedByTensor(const Graph& graph, const search::Plan& plan) {
  absl::flat_hash_map<TensorId, int64_t> moved;
  for (const search::Move& move : search::MovesOf(graph, plan)) {
    moved[move.tensor] += TimesOf(graph, move.node) * move.bytes;
  }
  return moved;
}

}  // namespace

absl::optional<DataParallelism> DataParallelismOf(const Graph& bare,
                                                  search::SearchOptions options) {
  options.search = "data";
  options.copies = false;
  options.accumulators = search::Accumulators::kNone;
  options.report = nullptr;
  options.replicate = search::Replicate::kNone;  // the baseline replicates by itself
  const absl::StatusOr<search::Plan> plan = search::Search(bare, options);
  if (!plan.ok() || !plan->stopped.empty()) return absl::nullopt;
  return DataParallelism{plan->cost.bytes(), compiler::ArenaBytes(bare, *plan)};
}

// What moves of one tensor depends on its own sharding and on the partitions of nodes, not on how
// other tensors are stored: so all tensors are tried at once.
int64_t BytesOfMostParts(const Graph& graph, const search::Plan& plan,
                         const std::vector<TensorId>& tensors) {
  absl::flat_hash_map<TensorId, std::vector<search::Choice>> choices;
  size_t rounds = 0;
  for (const TensorId tensor : tensors) {
    choices[tensor] = MostParts(plan.mesh, graph.tensors[tensor]);
    rounds = std::max(rounds, choices[tensor].size());
  }
  const auto now = MovedByTensor(graph, plan);
  absl::flat_hash_map<TensorId, int64_t> least;
  search::Plan other = plan;
  for (size_t round = 0; round < rounds; ++round) {
    for (const TensorId tensor : tensors) {
      const std::vector<search::Choice>& list = choices[tensor];
      other.tensors[tensor] = list[std::min(round, list.size() - 1)];
    }
    const auto moved = MovedByTensor(graph, other);
    for (const TensorId tensor : tensors) {
      const auto it = moved.find(tensor);
      const int64_t bytes = it == moved.end() ? 0 : it->second;
      const auto [place, is_new] = least.emplace(tensor, bytes);
      if (!is_new) place->second = std::min(place->second, bytes);
    }
  }
  int64_t more = 0;
  for (const auto& [tensor, bytes] : least) {
    const auto it = now.find(tensor);
    more += bytes - (it == now.end() ? 0 : it->second);
  }
  return more;
}

}  // namespace yuba::tools
