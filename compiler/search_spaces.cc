#include "compiler/search_spaces.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/types/optional.h"
#include "compiler/search_within.h"
#include "opsemantics/base/status.h"
#include "search/budget.h"
#include "search/grid_problem.h"
#include "search/lower_bound.h"

namespace yuba {
namespace {

// Whether axes of these sizes, in any order, end where the factors from `factor` on do; `left` is
// what is not cut yet of it.
bool Nests(const std::vector<int64_t>& factors, size_t factor, int64_t left,
           const std::vector<int>& sizes) {
  while (left == 1 && ++factor < factors.size()) left = factors[factor];
  if (factor == factors.size()) return true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0 && sizes[i] == sizes[i - 1]) continue;
    std::vector<int> others = sizes;
    others.erase(others.begin() + static_cast<int64_t>(i));
    if (left % sizes[i] != 0 || !Nests(factors, factor, left / sizes[i], others)) return false;
  }
  return true;
}

// Whether a quick bound shows that no plan moves fewer bytes.
bool NoneBelow(int64_t bytes, const Graph& graph, const Mesh& mesh, const Budget& budget) {
  const double enough = static_cast<double>(bytes) * (1 + 1e-6);
  return DualBound(graph, mesh, TensorUsesOf(graph, mesh), budget, enough).bytes >= bytes;
}

// A plan without factors that moves less than `plan`, of a model that `model` becomes; nothing
// where there is none, or no time.
absl::StatusOr<absl::optional<Plan>> CheaperFlat(const ImportOptions& import, SearchOptions options,
                                                 const absl::StatusOr<Plan>& plan,
                                                 const Budget& budget, Model& model) {
  ImportOptions flat_import = import;
  flat_import.factors = false;
  absl::StatusOr<Model> imported = ImportOnnx(model.file, flat_import);
  if (!imported.ok() && plan.ok()) return absl::optional<Plan>();
  YUBA_ASSIGN_OR_RETURN(Model flat, std::move(imported));
  options.factors = false;
  flat.graph = SharedGraph(flat.graph, options);
  const bool bounded = plan.ok() && options.replicate == "none";
  if (bounded && NoneBelow(plan->cost.bytes(), flat.graph, options.mesh, budget)) {
    return absl::optional<Plan>();
  }
  if (budget.Spent()) return absl::optional<Plan>();
  if (options.time_limit > 0) options.time_limit = std::max(1e-3, options.time_limit - budget.Elapsed());
  absl::StatusOr<Plan> found = SearchWithinMemory(flat, options);
  if (!found.ok() || (plan.ok() && found->cost.bytes() >= plan->cost.bytes())) {
    if (found.ok() && !found->stopped.empty()) budget.Spent();
    return absl::optional<Plan>();
  }
  model = std::move(flat);
  return absl::optional<Plan>(*std::move(found));
}

}  // namespace

bool FlatMayDiffer(const Graph& graph, const Mesh& mesh) {
  std::vector<int> sizes;
  for (const MeshAxis& axis : mesh.axes) sizes.push_back(axis.size);
  std::sort(sizes.begin(), sizes.end());
  std::set<std::vector<int64_t>> known;
  for (const Tensor& tensor : graph.tensors) {
    for (const std::vector<int64_t>& factors : tensor.dims) {
      if (factors.size() < 2 || !known.insert(factors).second) continue;
      if (!Nests(factors, 0, factors[0], sizes)) return true;
    }
  }
  return false;
}

absl::StatusOr<Plan> SearchSpaces(const ImportOptions& import, const SearchOptions& options,
                                  Model& model) {
  const Budget budget(options.time_limit, options.threads, options.asked);
  const bool may_differ = options.pins.empty() && FlatMayDiffer(model.graph, options.mesh);
  model.graph = SharedGraph(model.graph, options);
  absl::StatusOr<Plan> plan = SearchWithinMemory(model, options);
  const bool over = plan.ok() ? plan->cost.bytes() == 0 || !plan->stopped.empty()
                              : !absl::IsFailedPrecondition(plan.status());
  if (!may_differ || over) return plan;
  YUBA_ASSIGN_OR_RETURN(absl::optional<Plan> flat,
                        CheaperFlat(import, options, plan, budget, model));
  if (flat.has_value()) return *std::move(flat);
  if (plan.ok() && budget.end() == Budget::End::kTime) plan->stopped = kTimeLimit;
  if (plan.ok() && budget.end() == Budget::End::kAsked) plan->stopped = kInterrupt;
  return plan;
}

}  // namespace yuba
