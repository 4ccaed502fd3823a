#include "search/solve/eliminate.h"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/check.h"
#include "search/solve/bucket_tree.h"
#include "search/solve/interaction.h"

namespace yuba::search {
namespace {

// What is left of a problem when some variables have values: its other variables under their old
// numbers, without symmetries, since fixed values are seldom symmetric.
class Conditioning {
 public:
  Conditioning(const PairwiseProblem& problem, const std::vector<int>& free,
               const Assignment& given)
      : problem_(problem), given_(given), free_(problem.variables.size(), false) {
    for (const int v : free) free_[v] = true;
    std::map<int, DomainPtr> plain;  // by size
    for (const DomainPtr& domain : problem.variables) {
      DomainPtr& without = plain[domain->size];
      if (without == nullptr) without = PlainDomain(domain->size);
      rest_.variables.push_back(without);
    }
    for (const Factor& factor : problem.factors) Add(factor);
  }

  const PairwiseProblem& rest() const { return rest_; }
  int64_t constant() const { return constant_; }  // of the factors whose variables all have values

 private:
  void Add(const Factor& factor) {
    const int a = factor.scope[0], b = factor.scope.back();
    if (free_[a] && free_[b]) {
      rest_.factors.push_back(factor);
    } else if (!free_[a] && !free_[b]) {
      constant_ += CostOf(problem_, factor, given_);
    } else {
      const int side = free_[a] ? 1 : 0;  // that has a value
      Cells& slice = slices_[{factor.cells.get(), side, given_[factor.scope[side]]}];
      if (slice == nullptr) slice = Slice(factor, side);
      rest_.factors.push_back({{factor.scope[1 - side]}, slice});
    }
  }

  Cells Slice(const Factor& factor, int side) const {
    const int64_t rows = problem_.variables[factor.scope[0]]->size;
    const int64_t columns = problem_.variables[factor.scope[1]]->size;
    const int64_t at = given_[factor.scope[side]];
    std::vector<int64_t> cells;
    if (side == 0) {
      const auto row = factor.cells->begin() + at * columns;
      cells.assign(row, row + columns);
    } else {
      for (int64_t i = 0; i < rows; ++i) cells.push_back((*factor.cells)[i * columns + at]);
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(cells));
  }

  const PairwiseProblem& problem_;
  const Assignment& given_;
  std::vector<bool> free_;
  PairwiseProblem rest_;
  int64_t constant_ = 0;
  // By table, the side that has a value, and that value: equal slices are one table.
  absl::flat_hash_map<std::tuple<const void*, int, int>, Cells> slices_;
};

// The best values of the variables in `order`, written to solution->assignment; their cost is added
// to solution->cost. False where the budget was spent before the end.
bool Optimise(const PairwiseProblem& problem, const std::vector<int>& order, const Budget& budget,
              Solution* solution) {
  BucketTree tree = MakeBuckets(problem, order);
  if (!EliminateUp(problem, budget, &tree)) return false;
  solution->cost += tree.least;
  ChooseValues(problem, tree, &solution->assignment);
  return true;
}

}  // namespace

absl::optional<Order> GreedyOrder(const PairwiseProblem& problem, int64_t cells,
                                  const Budget& budget, bool each) {
  Interaction interaction(problem);
  Order order;
  while (interaction.remaining() > 0) {
    if (budget.ShouldStop()) return absl::nullopt;
    int64_t table = 0;
    const int next = interaction.Cheapest(&table);
    if (table > cells) return absl::nullopt;
    interaction.Eliminate(next);
    order.variables.push_back(next);
  }
  const Work work = WorkOf(problem, MakeBuckets(problem, order.variables), !each);
  if (work.cells > 4 * cells || work.sums > 256 * cells) return absl::nullopt;
  order.sums = work.sums;
  return order;
}

absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Assignment& given, const Budget& budget) {
  Solution solution = {given, 0};
  if (order.size() == problem.variables.size()) {
    if (!Optimise(problem, order, budget, &solution)) return absl::nullopt;
    return solution;
  }
  const Conditioning conditioning(problem, order, given);
  solution.cost = conditioning.constant();
  if (!Optimise(conditioning.rest(), order, budget, &solution)) return absl::nullopt;
  return solution;
}

absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Budget& budget) {
  YUBA_CHECK(order.size() == problem.variables.size());
  return Eliminate(problem, order, Assignment(problem.variables.size(), 0), budget);
}

}  // namespace yuba::search
