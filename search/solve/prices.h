// Pairwise problems of graphs with a limit on memory: prices on the rows from the relaxation to
// classes, an exact elimination at these prices, and a search for what is within the limit.
#ifndef YUBA_SEARCH_SOLVE_PRICES_H_
#define YUBA_SEARCH_SOLVE_PRICES_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/plan/memory_price.h"
#include "search/solve/budget.h"
#include "search/solve/dual.h"
#include "search/solve/memory_core.h"
#include "search/solve/memory_dual.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The problem without rows, in units: each cost, and what each use is beyond its least, and each
// buffer, at the prices of its times (PricedUse); `most` where that is more. No assignment within
// the limit costs less than the least of its sums, less the room at all prices (Lagrange).
PairwiseProblem AtPrices(const PairwiseProblem& problem, const std::vector<MemoryPrice>& prices,
                         int64_t most);

// The sum over the prices of what the limit leaves at their times when all use their least; nothing
// where that is no number.
absl::optional<int64_t> RoomAtPrices(const MemoryRows& rows,
                                     const std::vector<MemoryPrice>& prices);

// The least cost of an assignment within the limit is no less than these bytes: the least of the
// sums at prices, found by elimination in that order, less the room. Nothing where there was no
// time, or that is no number.
struct PricedBound {
  int64_t bytes = 0;
  Assignment assignment;  // with the least sum; it may exceed the limit
};
absl::optional<PricedBound> BoundAtPrices(const PairwiseProblem& problem,
                                          const std::vector<MemoryPrice>& prices,
                                          const std::vector<int>& order, int64_t most,
                                          const Budget& budget);

// Prices that make the bound of messages good (memory_dual.h), by time; none where no row can
// exceed the limit.
struct PriceSearch {
  double rise = 0;  // ends where the bound has not risen by that share of it for a while
  int patience = MemoryDual::kPatience;
  int steps = 600;
  int64_t enough = kForbidden;  // ends where the bound is that
  int64_t known = kForbidden;   // what an assignment within the limit costs: steps are as long as
                                // the bound is below the least that is known
  std::vector<MemoryPrice> start;  // from these, or from none
};
// Their bound to *bound.
std::vector<MemoryPrice> GoodPrices(const PairwiseProblem& problem, const PriceSearch& options,
                                    const Budget& budget, int64_t* bound = nullptr);

// Deterministic. Problem and budget must outlive the solver; where the budget is spent, it does
// with what it has.
class LimitSolver {
 public:
  // `classes` by variable, closed under the symmetries. Without `table_cells` there is no bound.
  // `most` of a cost at prices, in units. What costs `known` or more is of no use: where the bound
  // is that, it need not be the best, and may come without an order.
  LimitSolver(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
              int64_t table_cells, int64_t most, int64_t known = kForbidden,
              const Budget& budget = Budget::Unlimited());

  void AddStart(Assignment assignment) { starts_.push_back(std::move(assignment)); }

  // The cheapest assignment found that needs at most `target`, which is no more than the problem's
  // limit. Nothing where even the least usages exceed it, or where nothing was found. `near`, if
  // there is one, holds what was found for another target, from which the search begins where it
  // is not empty, and then what was found now, the cheapest first.
  absl::optional<Assignment> Solve(int64_t target, std::vector<Assignment>* near = nullptr) const;

  int64_t limit() const { return problem_.memory.limit; }

  // For small problems: the cheapest assignment within the problem's limit that costs less than
  // `least` and is accepted; else `start`. Asks about a limited number of them.
  Assignment Improve(const Assignment& start, int64_t least,
                     const std::function<bool(const Assignment&)>& accept) const;

  // No assignment within the problem's limit costs less: an elimination in this order, at these
  // prices, proves it. 0 and no order where the tables do not fit, or there was no time.
  int64_t bound() const { return bound_; }
  const std::vector<int>& order() const { return order_; }
  const std::vector<MemoryPrice>& prices() const { return prices_; }
  // That such an elimination takes; 0 where there was none.
  int64_t sums() const { return sums_; }

 private:
  void Scale(const std::vector<MemoryPrice>& prices);
  bool Evaluate(const std::vector<MemoryPrice>& prices, const std::vector<int>& order);
  struct Found {
    int64_t cost = 0;
    Assignment assignment;
  };
  std::vector<Found> SearchFrom(const MemoryCore& core,
                                const std::vector<Assignment>& starts) const;

  const PairwiseProblem& problem_;
  const int64_t table_cells_, most_, known_;
  const Budget& budget_;
  int64_t bound_ = 0, sums_ = 0;
  std::vector<int> order_;
  std::vector<MemoryPrice> prices_;
  std::vector<Assignment> starts_;  // optimal at some prices, and those that were added
};

// The cheapest assignment among those with the least usage of every variable.
Assignment LeastUsage(const PairwiseProblem& problem);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PRICES_H_
