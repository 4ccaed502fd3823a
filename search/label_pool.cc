#include "search/label_pool.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "search/improve.h"
#include "search/solve.h"

namespace yuba {
namespace {

constexpr size_t kMostCuts = 64;    // of one variable, besides exchanges and what was found
constexpr size_t kFewCuts = 20;     // where their costs would take more than so many products,
constexpr double kMostSteps = 4e8;  // about one a nanosecond

// Where the tables do not fit.
constexpr int64_t kLocalCells = int64_t{1} << 12;
constexpr int64_t kLocalWork = int64_t{1} << 26;

using CutNumbers = std::shared_ptr<const std::vector<int>>;

// Variables of one kind share a pool, so that repeated parts of the graph are repeated parts of the
// problem.
CutNumbers Pool(const std::vector<int>& variables, const std::vector<std::vector<int>>& found,
                bool exchange, LabelSearch* search) {
  std::vector<int> pool;
  auto add = [&pool](int cut) {
    if (std::find(pool.begin(), pool.end(), cut) == pool.end()) pool.push_back(cut);
  };
  std::map<int, int> votes;  // by cut
  for (int v : variables) {
    add(search->cuts()[v]);
    for (int cut : search->Suggestions(v)) ++votes[cut];
  }
  const size_t own = pool.size();
  for (size_t i = 0; i < own && exchange; ++i) search->ForEachExchange(pool[i], add);
  for (const std::vector<int>& cuts : found) {
    for (int v : variables) {
      if (exchange || pool.size() < kFewCuts) add(cuts[v]);
    }
  }
  std::vector<std::pair<int, int>> ranked;  // what most neighbours suggest
  for (const auto& [cut, count] : votes) ranked.push_back({-count, cut});
  std::sort(ranked.begin(), ranked.end());
  for (const auto& vote : ranked) {
    if (pool.size() >= (exchange ? kMostCuts : kFewCuts)) break;
    add(vote.second);
  }
  return std::make_shared<const std::vector<int>>(std::move(pool));
}

// Null where the budget is spent.
Cells CellsOf(const LabelEdge& edge, const std::vector<int>& rows, const std::vector<int>& columns,
              const Budget& budget, const LabelSearch& search) {
  std::vector<int64_t> cells;
  for (int row : rows) {
    if (budget.Spent()) return nullptr;
    if (edge.tensor == edge.node) {
      cells.push_back(search.CostOfEdge(edge, row, row));
      continue;
    }
    for (int column : columns) cells.push_back(search.CostOfEdge(edge, row, column));
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

// Nothing where the budget is spent.
absl::optional<PairwiseProblem> ProblemOf(const LabelProblem& labels, const LabelSearch& search,
                                          const std::vector<CutNumbers>& pools,
                                          const Budget& budget) {
  PairwiseProblem problem;
  std::map<CutNumbers, DomainPtr> domains;
  for (const CutNumbers& pool : pools) {
    DomainPtr& domain = domains[pool];
    if (domain == nullptr) {
      std::vector<int> identity;
      for (size_t i = 0; i < pool->size(); ++i) identity.push_back(static_cast<int>(i));
      domain = std::make_shared<const Domain>(
          Domain{static_cast<int>(pool->size()), {std::move(identity)}});
    }
    problem.variables.push_back(domain);
  }
  std::map<std::tuple<int, int, int, int64_t, CutNumbers, CutNumbers>, Cells> known;
  for (const LabelEdge& edge : labels.edges) {
    const bool one = edge.tensor == edge.node;
    const CutNumbers &rows = pools[edge.tensor], &columns = pools[edge.node];
    Cells& cells = known[{edge.kind, edge.tensor_dims, edge.node_dims, edge.count, rows,
                          one ? nullptr : columns}];
    if (cells == nullptr) cells = CellsOf(edge, *rows, *columns, budget, search);
    if (cells == nullptr) return absl::nullopt;
    std::vector<int> scope = {edge.tensor};
    if (!one) scope.push_back(edge.node);
    problem.factors.push_back({std::move(scope), cells});
  }
  return problem;
}

// Whether the costs of all exchanges are soon counted.
bool CanExchange(const LabelProblem& labels, const LabelSearch& search) {
  std::set<int> kinds;
  for (const LabelEdge& edge : labels.edges) kinds.insert(edge.kind);
  const double cuts = static_cast<double>(search.exchanges() + kFewCuts);
  return static_cast<double>(kinds.size()) * cuts * cuts * search.store().StepsOfPair() <
         kMostSteps;
}

}  // namespace

bool ChooseTogether(const LabelProblem& labels, const std::vector<std::vector<int>>& found,
                    int64_t table_cells, const Budget& budget, LabelSearch* search) {
  std::map<int, std::vector<int>> kinds;
  for (size_t v = 0; v < labels.variables.size(); ++v) {
    kinds[labels.variables[v].kind].push_back(static_cast<int>(v));
  }
  const bool exchange = CanExchange(labels, *search);
  std::map<int, CutNumbers> by_kind;
  for (const auto& [kind, variables] : kinds) {
    if (budget.Spent()) return false;
    by_kind[kind] = Pool(variables, found, exchange, search);
  }
  std::vector<CutNumbers> pools;
  Assignment start;
  for (size_t v = 0; v < labels.variables.size(); ++v) {
    pools.push_back(by_kind[labels.variables[v].kind]);
    auto own = std::find(pools[v]->begin(), pools[v]->end(), search->cuts()[v]);
    start.push_back(static_cast<int>(own - pools[v]->begin()));
  }
  const absl::optional<PairwiseProblem> built = ProblemOf(labels, *search, pools, budget);
  if (!built.has_value()) return false;
  const PairwiseProblem& problem = *built;
  const int64_t before = search->Cost();
  Solution solution;
  if (auto exact = SolveExactly(problem, table_cells, budget)) {
    solution = exact->solution;
  } else {
    ImproveOptions local;
    local.cells = kLocalCells;
    local.work = kLocalWork;
    solution = Improve(problem, {start, before}, local, budget);
  }
  if (solution.cost >= before) return false;
  for (size_t v = 0; v < pools.size(); ++v) {
    search->Set(static_cast<int>(v), (*pools[v])[solution.assignment[v]]);
  }
  return true;
}

}  // namespace yuba
