#include "search/axes/axis_pool.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "search/solve/parallel.h"
#include "search/solve/solve.h"

namespace yuba::search {
namespace {

// A pool is filled up to kMostChoices; to kFewChoices, and without exchanges, where the costs of
// larger ones would take more than kMostSteps products (about one a nanosecond).
constexpr size_t kMostChoices = 64;
constexpr size_t kFewChoices = 20;
constexpr double kMostSteps = 4e8;

// Of the local search where the pools cannot be eliminated.
constexpr int64_t kLocalCells = int64_t{1} << 12;
constexpr int64_t kLocalWork = int64_t{1} << 26;

using ChoiceNumbers = std::shared_ptr<const std::vector<int>>;

// The pool of the variables of one kind. They share it, so that repeated parts of the graph are
// repeated parts of the problem, whose tables are made once.
ChoiceNumbers Pool(const std::vector<int>& variables, const std::vector<std::vector<int>>& found,
                   bool exchange, AxisSearch* search) {
  std::vector<int> pool;
  auto add = [&pool](int choice) {
    if (std::find(pool.begin(), pool.end(), choice) == pool.end()) pool.push_back(choice);
  };
  std::map<int, int> votes;  // by choice
  for (int v : variables) {
    add(search->choices()[v]);
    for (int choice : search->ChoicesFollowing(v)) ++votes[choice];
  }
  const size_t own = pool.size();
  for (size_t i = 0; i < own && exchange; ++i) search->ForEachExchange(variables[0], pool[i], add);
  for (const std::vector<int>& choices : found) {
    for (int v : variables) {
      if (exchange || pool.size() < kFewChoices) add(choices[v]);
    }
  }
  std::vector<std::pair<int, int>> ranked;  // (-votes, choice)
  for (const auto& [choice, count] : votes) ranked.push_back({-count, choice});
  std::sort(ranked.begin(), ranked.end());
  for (const auto& vote : ranked) {
    if (pool.size() >= (exchange ? kMostChoices : kFewChoices)) break;
    add(vote.second);
  }
  return std::make_shared<const std::vector<int>>(std::move(pool));
}

// The costs of an edge between two pools.
struct PoolTable {
  const AxisEdge* edge = nullptr;
  std::vector<int> rows, columns;  // numbers in the store, as the edge's ends take them
  std::vector<int64_t> cells;      // row-major; the diagonal where both ends are one variable
};

// Fills the cells. Tables of one kind share the store's map of costs, so they are filled one after
// the other; different kinds at the same time. False where the budget is spent.
bool Fill(std::vector<PoolTable>& tables, const Budget& budget, AxisSearch* search) {
  std::map<int, std::vector<PoolTable*>> by_kind;
  for (PoolTable& table : tables) by_kind[table.edge->kind].push_back(&table);
  std::vector<const std::vector<PoolTable*>*> kinds;
  for (const auto& [kind, of_kind] : by_kind) kinds.push_back(&of_kind);
  std::atomic<bool> stopped{false};
  ParallelFor(budget.threads(), static_cast<int64_t>(kinds.size()), [&](int64_t k) {
    for (PoolTable* table : *kinds[k]) {
      const AxisEdge& edge = *table->edge;
      const bool diagonal = edge.tensor == edge.node;
      for (size_t row = 0; row < table->rows.size(); ++row) {
        if (stopped || budget.ShouldStop()) {
          stopped = true;
          return;
        }
        for (size_t column = 0; column < table->columns.size(); ++column) {
          if (diagonal && column != row) continue;
          table->cells.push_back(
              search->CostOfMapped(edge, table->rows[row], table->columns[column]));
        }
      }
    }
  });
  return !stopped;
}

// The pairwise problem over the pools, by variable; nothing where the budget is spent.
absl::optional<PairwiseProblem> ProblemOf(const AxisProblem& axis_problem,
                                          const std::vector<ChoiceNumbers>& pools,
                                          const Budget& budget, AxisSearch* search) {
  PairwiseProblem problem;
  std::map<ChoiceNumbers, DomainPtr> domains;
  for (const ChoiceNumbers& pool : pools) {
    DomainPtr& domain = domains[pool];
    if (domain == nullptr) domain = PlainDomain(static_cast<int>(pool->size()));
    problem.variables.push_back(domain);
  }
  std::map<std::tuple<int, int, int, int64_t, ChoiceNumbers, ChoiceNumbers>, int> known;
  std::vector<PoolTable> tables;
  std::vector<int> table_of;  // by edge
  for (const AxisEdge& edge : axis_problem.edges) {
    const ChoiceNumbers &rows = pools[edge.tensor], &columns = pools[edge.node];
    const auto [table, is_new] =
        known.emplace(std::make_tuple(edge.kind, edge.tensor_dims, edge.node_dims, edge.count, rows,
                                      edge.tensor == edge.node ? nullptr : columns),
                      static_cast<int>(tables.size()));
    table_of.push_back(table->second);
    if (!is_new) continue;
    tables.push_back({&edge,
                      search->Mapped(*rows, edge.tensor_dims),
                      search->Mapped(*columns, edge.node_dims),
                      {}});
  }
  if (!Fill(tables, budget, search)) return absl::nullopt;
  std::vector<Cells> cells;
  for (PoolTable& table : tables) {
    cells.push_back(std::make_shared<const std::vector<int64_t>>(std::move(table.cells)));
  }
  AxisMemory* const memory = search->memory();
  for (size_t v = 0; memory != nullptr && memory->priced() && v < pools.size(); ++v) {
    std::vector<int64_t> prices;
    for (const int choice : *pools[v])
      prices.push_back(memory->PriceOf(static_cast<int>(v), choice));
    const int64_t least = *std::min_element(prices.begin(), prices.end());
    for (int64_t& price : prices) price -= least;
    problem.factors.push_back(
        {{static_cast<int>(v)}, std::make_shared<const std::vector<int64_t>>(std::move(prices))});
  }
  for (size_t e = 0; e < axis_problem.edges.size(); ++e) {
    const AxisEdge& edge = axis_problem.edges[e];
    std::vector<int> scope = {edge.tensor};
    if (edge.tensor != edge.node) scope.push_back(edge.node);
    problem.factors.push_back({std::move(scope), cells[table_of[e]]});
  }
  return problem;
}

// Whether the costs of all exchanges take at most kMostSteps products.
bool CanExchange(const AxisProblem& axis_problem, const AxisSearch& search) {
  std::set<int> kinds;
  for (const AxisEdge& edge : axis_problem.edges) kinds.insert(edge.kind);
  const double choices = static_cast<double>(search.exchanges() + kFewChoices);
  return static_cast<double>(kinds.size()) * choices * choices * search.store().StepsOfPair() <
         kMostSteps;
}

// Chooses for all variables together, each from the pool of its kind. Returns as ChooseAmong.
bool ChooseFrom(const AxisProblem& axis_problem, const std::map<int, ChoiceNumbers>& by_kind,
                int64_t table_cells, const Budget& budget, AxisSearch* search) {
  std::vector<ChoiceNumbers> pools;
  Assignment start;
  for (size_t v = 0; v < axis_problem.variables.size(); ++v) {
    pools.push_back(by_kind.at(axis_problem.variables[v].kind));
    auto own = std::find(pools[v]->begin(), pools[v]->end(), search->choices()[v]);
    start.push_back(static_cast<int>(own - pools[v]->begin()));
  }
  const absl::optional<PairwiseProblem> built = ProblemOf(axis_problem, pools, budget, search);
  if (!built.has_value()) return false;
  const PairwiseProblem& problem = *built;
  const int64_t before = search->Cost();
  const std::vector<int> kept = search->choices();
  Solution solution;
  if (auto exact = SolveExactly(problem, table_cells, budget)) {
    solution = exact->solution;
  } else {
    LocalOptions local;
    local.cells = kLocalCells;
    local.work = kLocalWork;
    solution = SolveLocally(problem, {start}, local, budget);
  }
  if (solution.cost >= CostOf(problem, start)) return false;
  for (size_t v = 0; v < pools.size(); ++v) {
    search->Set(static_cast<int>(v), (*pools[v])[solution.assignment[v]]);
  }
  if (search->Cost() >= before) {  // the problem does not count the penalty on memory
    search->SetAll(kept);
    return false;
  }
  return true;
}

}  // namespace

bool ChooseAmong(const AxisProblem& axis_problem, const std::vector<std::vector<int>>& found,
                 int64_t table_cells, const Budget& budget, AxisSearch* search) {
  std::map<int, std::vector<int>> kinds;
  for (size_t v = 0; v < axis_problem.variables.size(); ++v) {
    kinds[axis_problem.variables[v].kind].push_back(static_cast<int>(v));
  }
  const bool exchange = CanExchange(axis_problem, *search);
  std::map<int, ChoiceNumbers> by_kind;
  for (const auto& [kind, variables] : kinds) {
    if (budget.ShouldStop()) return false;
    by_kind[kind] = Pool(variables, found, exchange, search);
  }
  return ChooseFrom(axis_problem, by_kind, table_cells, budget, search);
}

bool MoveAxis(const AxisProblem& axis_problem, uint8_t axis, int64_t table_cells,
              const Budget& budget, AxisSearch* search) {
  std::map<int, std::set<int>> choices;  // by kind
  for (size_t v = 0; v < axis_problem.variables.size(); ++v) {
    const std::vector<int> moved =
        search->WithMoved(static_cast<int>(v), search->choices()[v], axis);
    choices[axis_problem.variables[v].kind].insert(moved.begin(), moved.end());
  }
  std::map<int, ChoiceNumbers> by_kind;
  for (const auto& [kind, pool] : choices)
    by_kind[kind] = std::make_shared<const std::vector<int>>(pool.begin(), pool.end());
  return ChooseFrom(axis_problem, by_kind, table_cells, budget, search);
}

}  // namespace yuba::search
