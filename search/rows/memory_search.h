// Searches for assignments of a core within its rows. Large-neighbourhood search: in each round a
// region of variables is solved exactly at the dual's prices (memory_region.h), and the best of its
// assignments are tried against the rows. And, for small cores, one after another everything that
// could be cheaper.
#ifndef YUBA_SEARCH_ROWS_MEMORY_SEARCH_H_
#define YUBA_SEARCH_ROWS_MEMORY_SEARCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/optional.h"
#include "search/plan/memory_price.h"
#include "search/rows/memory_core.h"
#include "search/rows/memory_region.h"
#include "search/rows/memory_state.h"
#include "search/solve/budget.h"
#include "search/solve/eliminate.h"
#include "search/solve/random.h"

namespace yuba::search {

struct MemorySearchOptions {
  // Variables of a region: a few are solved soon, many change together.
  int fewest = 4, most = 40;
  // Every other region begins with up to so many variables that are in use in one row, ...
  int of_row = 6;
  // ... which is loaded to at least this share of its room, and is drawn at most so often.
  double full = 0.875;
  int draws = 300;
  // Draws for a forbidden pair, of which there are few: a look at one takes a nanosecond.
  int pair_draws = 20'000;
  // Cells of a region's largest table: a round of so many takes less than a millisecond.
  int64_t cells = int64_t{1} << 14;
  // Of a region, values that are looked at, and assignments that are tried against the rows: if the
  // cheapest of them do not fit, most others do not either.
  int steps = 2000, tried = 60;
  // Of the cost: by about how much a round may make it dearer at first.
  double heat = 2e-4;
  // Rounds with the same prices, which are then scaled, about as many neighbouring rows alike, by a
  // random factor whose logarithm has this deviation: other prices lead to other assignments.
  int rounds_of_prices = 500, rows_alike = 64;
  double spread = 0.3;
  // Where rows are exceeded after so many changes of prices, the penalty for that doubles.
  int changes_of_penalty = 8;
};

class MemorySearch {
 public:
  // The core must outlive this. Equal seeds give equal searches.
  MemorySearch(const MemoryCore& core, uint64_t seed, const MemorySearchOptions& options = {});

  void SetPrices(const std::vector<double>& prices);  // by row, in bytes moved for each byte
  void Start(const Assignment& assignment);           // goes on from here; it may exceed rows
  // Solves one random region and takes the best of its assignments. Within the rows that may cost
  // more than the present one: by a random amount that falls to 0 with the square of `left`, the
  // share that is left of a long search.
  void Round(double left = 0);

  bool Feasible() const { return state_.Feasible(); }  // within all rows, nothing forbidden
  int64_t cost() const { return state_.cost(); }       // kForbidden where some cell is
  // The cost with penalties for what exceeds rows and is forbidden: less is better.
  double Merit() const { return state_.CostWith(penalty_); }
  int64_t sums() const { return region_.sums(); }  // of all regions so far
  const Assignment& assignment() const { return state_.assignment(); }
  void SetCells(int64_t cells) { options_.cells = cells; }

 private:
  void Perturb();
  std::vector<int> Pick();
  void Add(int variable, std::vector<int>& variables);
  void Grow(std::vector<int>& variables, size_t count);
  // One of 0, ..., count - 1 for which fits() is true; -1 where so many draws find none.
  template <typename Fits>
  int Draw(size_t count, int draws, const Fits& fits) {
    for (; count > 0 && draws > 0; --draws) {
      const int drawn = static_cast<int>(random_.Below(count));
      if (fits(drawn)) return drawn;
    }
    return -1;
  }
  bool IsUsed(int variable, int row) const;
  double Slack(const std::vector<int>& variables) const;
  void Recount();

  const MemoryCore& core_;
  MemorySearchOptions options_;
  Region region_;
  Random random_;
  std::vector<double> prices_, tried_prices_;
  std::vector<double> slack_before_;  // by row: the slack (see Slack) of the rows before it
  MemoryState state_;
  std::vector<bool> in_region_;
  std::vector<int> old_, taken_;  // values of the region: before, and the best tried
  double penalty_ = 1;            // for each byte by which a row exceeds its room
  int64_t rounds_ = 0;
};

// The cheapest assignments within the core's rows that rounds of regions met from each of the
// starts, the cheapest first, with their costs, the core's constant included. A search ends where
// one costs no more than `bound`, after at most 600 rounds, or where the budget is spent; starts
// after one that reached the bound are left out.
std::vector<Solution> SearchWithin(const MemoryCore& core, const std::vector<MemoryPrice>& prices,
                                   const std::vector<Assignment>& starts, int64_t bound,
                                   const Budget& budget);

// For a core of at most 64 variables: tries, one after another, assignments that could cost less
// than `least`. The cheapest that is within the rows and that `accept` accepts, which is asked at
// most 1000 times; nothing where there is none, or the core is larger. Variables for which there is
// no room in the tables keep their values in `start`.
absl::optional<Solution> TryRest(const MemoryCore& core, const std::vector<MemoryPrice>& prices,
                                 const Assignment& start, int64_t least,
                                 const std::function<bool(const Assignment&)>& accept);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_SEARCH_H_
