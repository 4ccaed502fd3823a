// Exact elimination of a few variables of a core while all others keep their values, and its best
// assignments one after another.
#ifndef YUBA_SEARCH_MEMORY_REGION_H_
#define YUBA_SEARCH_MEMORY_REGION_H_

#include <cstdint>
#include <vector>

#include "search/memory_core.h"

namespace yuba {

class Region {
 public:
  static constexpr int kMostVariables = 64;

  explicit Region(const MemoryCore& core) : core_(core), place_(core.size(), -1) {}

  // Eliminates `variables` (distinct, at most 64); `extra` is added to the costs by variable and
  // value, forbidden cells count 10^18. Variables that would need tables of more than `cells` sums
  // keep their value.
  void Prepare(const std::vector<int>& variables, const Assignment& assignment,
               const std::vector<std::vector<double>>& extra, int64_t cells);

  double least() const { return least_; }        // the cheapest assignment's cost
  double current() const { return current_; }    // that of `assignment`

  // Calls take(values) for assignments that cost less than *limit, roughly the cheapest first:
  // values by place in variables(). `limit` may sink meanwhile. Ends after `steps` steps or where
  // take returns false.
  template <typename Take>
  void Enumerate(const double* limit, int steps, Take take) {
    steps_ = steps;
    chosen_.assign(variables_.size(), 0);
    Descend(static_cast<int>(order_.size()), least_, limit, take);
  }
  const std::vector<int>& variables() const { return variables_; }

 private:
  struct Term {
    std::vector<int> scope;  // places; row-major
    std::vector<double> cells;
  };
  struct Bucket {
    std::vector<int> terms;
    int result = -1;
  };
  struct Level {
    std::vector<double> costs;
    std::vector<int> by_cost;
  };

  void Gather(const Assignment& assignment, const std::vector<std::vector<double>>& extra);
  void Order(const Assignment& assignment, int64_t cells);
  void Restrict(int place, int value);
  void MakeTerms();
  void EliminateAt(int step);

  // `cost` is what the assignment so far costs at best.
  template <typename Take>
  bool Descend(int step, double cost, const double* limit, Take& take) {
    if (step == 0) {
      values_out_.resize(variables_.size());
      for (size_t i = 0; i < variables_.size(); ++i) values_out_[i] = values_[i][chosen_[i]];
      return take(values_out_);
    }
    const int place = order_[step - 1];
    Level& level = levels_[step - 1];
    CostsAt(step - 1, level);
    const double best = level.costs[level.by_cost[0]];
    for (int value : level.by_cost) {
      if (cost + level.costs[value] - best >= *limit) break;
      if (--steps_ < 0) return false;
      chosen_[place] = value;
      if (!Descend(step - 1, cost + level.costs[value] - best, limit, take)) return false;
    }
    return true;
  }
  void CostsAt(int step, Level& level);

  const MemoryCore& core_;
  std::vector<int> place_;                    // by variable of the core: its place here, or -1
  std::vector<int> variables_;
  std::vector<std::vector<int>> values_;      // by place: those that are tried
  std::vector<std::vector<double>> costs_;    // by place
  std::vector<uint64_t> neighbours_;          // by place
  std::vector<int> order_;
  std::vector<Term> terms_;
  std::vector<Bucket> buckets_;               // by step
  std::vector<Level> levels_;
  std::vector<int> chosen_, values_out_;
  double least_ = 0, current_ = 0;
  int steps_ = 0;
};

}  // namespace yuba

#endif  // YUBA_SEARCH_MEMORY_REGION_H_
