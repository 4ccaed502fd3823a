#include "search/check/bound.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check/memory.h"
#include "search/check/minimum.h"
#include "search/check/tables.h"
#include "search/plan/price_scale.h"

namespace yuba::search {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;
// Of one elimination: a few times what the search takes, which merges elements into clusters first.
constexpr int64_t kMostSums = int64_t{1} << 36;

using Values = std::shared_ptr<const std::vector<int64_t>>;

class Replay {
 public:
  Replay(const Graph& graph, const Plan& plan, const CostTables& costs,
         std::vector<CheckTable> tables)
      : graph_(graph),
        plan_(plan),
        sizes_(costs.sizes),
        renamings_(costs.renamed),
        of_variable_(costs.sizes.size()) {
    for (CheckTable& table : tables) Add(std::move(table));
  }

  absl::StatusOr<Remaining> Run(size_t count, const Stop& stop) {
    YUBA_RETURN_IF_ERROR(CheckOrder(graph_, plan_.proof.order));
    for (size_t i = 0; i < count; ++i) {
      YUBA_RETURN_IF_ERROR(GoOn(stop));
      YUBA_RETURN_IF_ERROR(Eliminate(plan_.proof.order[i]));
    }
    return Remaining{TablesLeft(), least_};
  }

 private:
  // Replaces all tables of `variable` by one: their sum at its best value.
  absl::Status Eliminate(int variable) {
    std::vector<CheckTable> mine;
    std::vector<int> scope;
    std::map<int, int> tables;  // by variable of the scope: how many tables depend on it
    for (const int place : of_variable_[variable]) {
      if (tables_[place].cells == nullptr) continue;
      mine.push_back(std::move(tables_[place]));
      tables_[place] = CheckTable();
      for (int v : mine.back().scope) {
        if (v != variable && tables[v]++ == 0) scope.push_back(v);
      }
    }
    // Variables on which few tables depend come last, and so are in the inner loops.
    std::stable_sort(scope.begin(), scope.end(),
                     [&](int a, int b) { return tables[a] > tables[b]; });
    int64_t cells = 1;
    for (int v : scope) {
      if (__builtin_mul_overflow(cells, sizes_[v], &cells) || cells > kMostCells) {
        return ProofError("the proof ", "needs a table of more than ", kMostCells, " cells");
      }
    }
    YUBA_ASSIGN_OR_RETURN(const Values least, Minimum(variable, scope, mine));
    if (scope.empty())
      least_ += (*least)[0];
    else
      Add({scope, least});
    return absl::OkStatus();
  }

  void Add(CheckTable table) {
    for (int v : table.scope) of_variable_[v].push_back(static_cast<int>(tables_.size()));
    tables_.push_back(std::move(table));
  }

  std::vector<CheckTable> TablesLeft() {
    std::vector<CheckTable> left;
    for (CheckTable& table : tables_) {
      if (table.cells != nullptr) left.push_back(std::move(table));
    }
    return left;
  }

  absl::StatusOr<Values> Minimum(int variable, const std::vector<int>& scope,
                                 const std::vector<CheckTable>& mine) {
    // Equal work is done once: the key says which tables meet, and how.
    auto number = [](const void* address) { return reinterpret_cast<intptr_t>(address); };
    std::vector<int64_t> key = {number(renamings_[variable].get())};
    for (int v : scope) key.push_back(number(renamings_[v].get()));
    for (const CheckTable& table : mine) {
      key.push_back(number(table.cells.get()));
      for (int v : table.scope) {
        key.push_back(std::find(scope.begin(), scope.end(), v) - scope.begin());
      }
      key.push_back(-1);
    }
    Values& known = done_[key];
    if (known != nullptr) return known;
    sums_ += SumsOf(variable, scope);
    if (sums_ > kMostSums) return ProofError("the proof ", "takes more than ", kMostSums, " sums");
    for (const CheckTable& table : mine) kept_.push_back(table.cells);
    known =
        std::make_shared<const std::vector<int64_t>>(LeastSums(scope, variable, mine, renamings_));
    return known;
  }

  // Of values of the scope's first variable that can be renamed to one another one is looked at.
  int64_t SumsOf(int variable, const std::vector<int>& scope) const {
    int64_t sums = sizes_[variable];
    for (int v : scope) sums *= sizes_[v];
    return scope.empty() ? sums : sums / static_cast<int64_t>(renamings_[scope[0]]->size());
  }

  const Graph& graph_;
  const Plan& plan_;
  std::vector<int> sizes_;  // by variable
  Renamings renamings_;
  std::vector<CheckTable> tables_;             // eliminated ones have no cells
  std::vector<std::vector<int>> of_variable_;  // places in tables_, of eliminated ones too
  std::map<std::vector<int64_t>, Values> done_;
  std::vector<Values> kept_;  // keeps the tables alive whose addresses are keys of done_
  int64_t least_ = 0, sums_ = 0;
};

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
  return Replay(graph, plan, costs, std::move(tables)).Run(count, stop);
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
