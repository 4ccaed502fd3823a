// Pairwise problems of graphs with a limit on memory: prices on the rows from the relaxation to
// classes, an exact elimination at these prices, and a search for assignments within the limit.
//
// Prices make a bound (Lagrange): cost + price * (use - limit) is no more than the cost of an
// assignment within the limit, and its least over all assignments needs no rows. Costs at prices
// are in units (PriceScale of search/plan/memory_price.h).
#ifndef YUBA_SEARCH_ROWS_PRICES_H_
#define YUBA_SEARCH_ROWS_PRICES_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/plan/memory_price.h"
#include "search/rows/memory_dual.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"
#include "search/solve/relax.h"

namespace yuba::search {

// The problem without rows, in units: its costs, and at the prices of their times what each use is
// beyond its least, and each buffer. Numbers above memory.scale.most count as that. No assignment
// within the limit costs less, in units, than the optimum of this problem less RoomAtPrices.
PairwiseProblem AtPrices(const PairwiseProblem& problem, const std::vector<MemoryPrice>& prices);

// The sum over the prices of price times what the limit leaves at that time when all use their
// least, in units; nothing where that overflows.
absl::optional<int64_t> RoomAtPrices(const MemoryRows& rows,
                                     const std::vector<MemoryPrice>& prices);

// The bound of these prices: the optimum of AtPrices, found by elimination in that order, less the
// room, in bytes. No assignment within the limit costs less. Nothing where there was no time, or a
// number overflows.
struct PricedBound {
  int64_t bytes = 0;
  Assignment assignment;  // the optimum of AtPrices; it may exceed the limit
};
absl::optional<PricedBound> BoundAtPrices(const PairwiseProblem& problem,
                                          const std::vector<MemoryPrice>& prices,
                                          const std::vector<int>& order, const Budget& budget);

// How GoodPrices searches.
struct PriceSearch {
  // After a third of the steps it ends where 50 steps raise the bound by less than this share of
  // it.
  double rise = 0;
  int patience = MemoryDualOptions().patience;
  int steps = 600;              // at most
  int64_t enough = kForbidden;  // ends where the bound is that or more
  // The cost of a known assignment within the limit. Steps are as long as the bound is below it, or
  // below the cheapest assignment met on the way.
  int64_t known = kForbidden;
  std::vector<MemoryPrice> start;  // begins with these prices; empty: with none
};
// Prices, by time, at which the bound of messages (memory_dual.h) is high, and that bound to
// *bound. Empty where no row can exceed the limit, or every assignment is forbidden.
std::vector<MemoryPrice> GoodPrices(const PairwiseProblem& problem, const PriceSearch& options,
                                    const Budget& budget, int64_t* bound = nullptr);

// The solver of one problem with a limit: finds prices and a bound when it is made, then
// assignments within this limit or lower ones. Deterministic where the budget has no end; where it
// is spent, the results are the best by then. Problem and budget must outlive the solver.
class LimitSolver {
 public:
  // `classes`: by variable; symmetries map values within their class. With `table_cells` 0 nothing
  // is eliminated. `known`: assignments of that cost or more are of no use; where the bound reaches
  // it, no better one is looked for, and there may be no order.
  LimitSolver(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
              int64_t table_cells, int64_t known = kForbidden,
              const Budget& budget = Budget::Unlimited());

  void AddStart(Assignment assignment) { starts_.push_back(std::move(assignment)); }

  // The cheapest assignment found whose rows need at most `target` bytes, which is no more than the
  // problem's limit. Nothing where even the least usages exceed it, or where nothing was found.
  // `near` may be null. Otherwise, where it is not empty the search begins from its assignments
  // (those found for another target), and afterwards it holds the few best ones found now, the
  // cheapest first.
  absl::optional<Assignment> Solve(int64_t target, std::vector<Assignment>* near = nullptr) const;

  int64_t limit() const { return problem_.memory.limit; }

  // For small problems: the cheapest assignment within the problem's limit that costs less than
  // `least` and that `accept` accepts; `start` where there is none. Asks about at most 1000 of
  // them.
  Assignment Improve(const Assignment& start, int64_t least,
                     const std::function<bool(const Assignment&)>& accept) const;

  // No assignment within the problem's limit costs less than bound(): an elimination in this order
  // at these prices proves it. Without an order the bound is 0 (the tables do not fit, or there was
  // no time) or one of messages that reached `known`.
  int64_t bound() const { return bound_; }
  const std::vector<int>& order() const { return order_; }
  const std::vector<MemoryPrice>& prices() const { return prices_; }
  // The sums that such an elimination takes; 0 where there was none.
  int64_t sums() const { return sums_; }

 private:
  void Scale(const std::vector<MemoryPrice>& prices);
  bool Evaluate(const std::vector<MemoryPrice>& prices, const std::vector<int>& order);

  const PairwiseProblem& problem_;
  const int64_t table_cells_, known_;
  const Budget& budget_;
  int64_t bound_ = 0, sums_ = 0;
  std::vector<int> order_;
  std::vector<MemoryPrice> prices_;
  std::vector<Assignment> starts_;  // optimal at some prices, and those that were added
};

// The assignment in which each variable, one after the other, uses the least that is allowed with
// the earlier ones.
Assignment LeastUsage(const PairwiseProblem& problem);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_PRICES_H_
