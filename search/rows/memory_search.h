// Large-neighbourhood search with rows of memory: in each round a region of variables is solved
// exactly at the dual's prices (memory_region.h), and the best of its assignments are tried against
// the rows.
#ifndef YUBA_SEARCH_ROWS_MEMORY_SEARCH_H_
#define YUBA_SEARCH_ROWS_MEMORY_SEARCH_H_

#include <cstdint>
#include <random>
#include <vector>

#include "search/rows/memory_core.h"
#include "search/rows/memory_region.h"
#include "search/rows/memory_state.h"

namespace yuba::search {

class MemorySearch {
 public:
  // The core must outlive this. Equal seeds give equal searches.
  MemorySearch(const MemoryCore& core, uint64_t seed);

  void SetPrices(const std::vector<double>& prices);  // by row, in bytes moved for each byte
  void Start(const Assignment& assignment);           // goes on from here; it may exceed rows
  // Solves one random region, with tables of at most `region_cells` cells, and takes the best of
  // its assignments. With `heat` > 0 that may cost more than the present one: by a random amount,
  // of the order of `heat` times the cost.
  void Round(double heat, int64_t region_cells = 1 << 14);

  bool Feasible() const { return state_.Feasible(); }  // within all rows, nothing forbidden
  int64_t cost() const { return state_.cost(); }       // kForbidden where some cell is
  // The cost with penalties for what exceeds rows and is forbidden: less is better.
  double Merit() const { return state_.CostWith(penalty_); }
  int64_t sums() const { return region_.sums(); }  // of all regions so far
  const Assignment& assignment() const { return state_.assignment(); }

 private:
  void Perturb();
  std::vector<int> Pick();
  void Grow(std::vector<int>& variables, size_t count);
  int CoveringRow(int row);
  double Slack(const std::vector<int>& variables) const;
  void Recount();

  const MemoryCore& core_;
  Region region_;
  std::mt19937_64 random_;
  std::vector<double> prices_, tried_prices_;
  std::vector<double> slack_before_;  // by row: the slack (see Slack) of the rows before it
  MemoryState state_;
  std::vector<bool> in_region_;
  std::vector<int> old_, taken_;  // values of the region: before, and the best tried
  double penalty_ = 1;            // for each byte by which a row exceeds its room
  int64_t rounds_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_SEARCH_H_
