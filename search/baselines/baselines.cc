#include "search/baselines/baselines.h"

#include "search/plan/plan.h"
#include "search/rewrite/copies.h"

namespace yuba::search {

absl::Span<const Baseline> Baselines() {
  static constexpr Baseline kBaselines[] = {
      {"data", "data parallel: everything cut on the batch, weights on every device", true,
       DataParallel, OfDataParallel},
      {"zero3", "the same with the weights shared out (ZeRO-3)", false, Zero3, OfZero3},
      {"megatron", "products with weights cut by columns, then by rows (Megatron-LM)", true,
       Megatron, OfMegatron},
      {"all-row", "every tensor cut on its first dimension", false, AllRow, nullptr},
      {"equal-chop", "every tensor cut on one dimension", false, EqualChop, nullptr},
      {"spartan", "greedy, the largest tensor first (Spartan)", false, Spartan, nullptr},
      {"icml18", "no cut of a reduction, so no partial sums (Jia et al.)", false, Icml18, nullptr},
      {"mindspore", "greedy and recursive, the most work first (D-Rec)", false, MindSpore, nullptr},
  };
  return kBaselines;
}

const Baseline* FindBaseline(absl::string_view name) {
  for (const Baseline& baseline : Baselines()) {
    if (name == baseline.name) return &baseline;
  }
  return nullptr;
}

namespace {

int64_t BytesOf(const Graph& graph, const Mesh& mesh, const Choices& choices) {
  Plan plan;
  plan.mesh = mesh;
  const auto middle = choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(choices.begin(), middle);
  plan.nodes.assign(middle, choices.end());
  return CostOf(graph, plan).bytes();
}

}  // namespace

Choices FindCheapest(const Baseline& baseline, const Graph& graph, const Mesh& mesh,
                     int64_t table_cells, const Budget& budget) {
  Choices shared = baseline.find(graph, mesh, table_cells, budget);
  if (!graph.copies || budget.ShouldStop()) return shared;
  const Uncopied bare = WithoutCopies(graph);
  Choices plain =
      ChoicesWithCopies(graph, bare, baseline.find(bare.graph, mesh, table_cells, budget));
  return BytesOf(graph, mesh, plain) < BytesOf(graph, mesh, shared) ? plain : shared;
}

}  // namespace yuba::search
