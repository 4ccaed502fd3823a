// Large-neighbourhood search with memory: regions of variables are solved exactly at the dual's
// prices, the best of their assignments are tried against the true rows.
#ifndef YUBA_SEARCH_SOLVE_MEMORY_SEARCH_H_
#define YUBA_SEARCH_SOLVE_MEMORY_SEARCH_H_

#include <cstdint>
#include <random>
#include <vector>

#include "search/solve/memory_core.h"
#include "search/solve/memory_region.h"
#include "search/solve/memory_state.h"

namespace yuba::search {

class MemorySearch {
 public:
  MemorySearch(const MemoryCore& core, uint64_t seed);

  void SetPrices(const std::vector<double>& prices);
  void Start(const Assignment& assignment);
  // One region, of tables of so many cells. `heat`, a share of the cost, is what a move may add to
  // it.
  void Round(double heat, int64_t region_cells = 1 << 14);

  bool Feasible() const { return state_.Feasible(); }
  int64_t cost() const { return state_.cost(); }  // kForbidden where some cell is
  int64_t sums() const { return region_.sums(); }
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
  std::vector<double> slack_before_;  // by row: the slack of the rows before it
  MemoryState state_;
  std::vector<bool> in_region_;
  std::vector<int> old_, taken_;  // of a region
  double penalty_ = 1;
  int64_t rounds_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_SEARCH_H_
