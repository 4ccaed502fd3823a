// A region: a few variables of a core (at most 64) that are eliminated exactly while all others
// keep their values, without rows but at prices on them; and its best assignments, one after
// another, for the caller to try against the rows.
#ifndef YUBA_SEARCH_ROWS_MEMORY_REGION_H_
#define YUBA_SEARCH_ROWS_MEMORY_REGION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/rows/memory_core.h"
#include "search/rows/memory_dual.h"

namespace yuba::search {

class Region {
 public:
  static constexpr int kMostVariables = 64;

  explicit Region(const MemoryCore& core);  // which must outlive this; no prices at first

  // Prices to be added to the costs from the next Prepare on (PricesOf).
  void SetPrices(CorePrices prices);

  // Eliminates `variables` (distinct, at most 64), all others having their values in `assignment`.
  // Forbidden cells count 10^18. Variables whose elimination would take more than `cells` sums keep
  // their values.
  void Prepare(const std::vector<int>& variables, const Assignment& assignment, int64_t cells);

  // The cost, with prices, of the region's cheapest assignment, and of the one that it has.
  double least() const { return least_; }
  double current() const { return current_; }
  int64_t sums() const { return sums_; }  // of all eliminations so far

  // Calls take(values), by place in variables(), for assignments that cost less than *limit,
  // roughly the cheapest first. *limit may sink meanwhile. Ends after `steps` steps or where take
  // returns false. When a place has taken a value, enter(place, value) is asked whether to go on to
  // the next places; leave(place, value) is called when that value is done with. Places with a
  // single value are entered first and never left.
  template <typename Take, typename Enter, typename Leave>
  void Enumerate(const double* limit, int steps, Take take, Enter enter, Leave leave) {
    steps_ = steps;
    chosen_.assign(variables_.size(), 0);
    values_out_.resize(variables_.size());
    for (size_t i = 0; i < variables_.size(); ++i) values_out_[i] = values_[i][0];
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (step_of_[i] < 0) enter(static_cast<int>(i), values_out_[i]);
    }
    Descend(static_cast<int>(order_.size()), least_, limit, take, enter, leave);
  }
  template <typename Take>
  void Enumerate(const double* limit, int steps, Take take) {
    Enumerate(limit, steps, take, [](int, int) { return true; }, [](int, int) {});
  }
  const std::vector<int>& variables() const { return variables_; }

 private:
  // A table. Row-major in the order of elimination, so that the place that is eliminated next has
  // the longest stride.
  struct Term {
    std::vector<int> scope;  // places
    const double* cells = nullptr;
    int64_t stride = 1;       // of the first place
    std::vector<double> own;  // where the cells are, if this made them; used again and again
  };
  // The values of one place in Enumerate: what each adds, and those below the limit by cost.
  struct Level {
    std::vector<double> costs;
    std::vector<int> by_cost;
  };

  void Gather(const Assignment& assignment);
  void Order(const Assignment& assignment, int64_t cells);
  void Restrict(int place, int value);
  void MakeTerms();
  void MakeTerm(int number, int i, int j);
  const double* TableOf(int number, bool b_first);
  double CellAt(int number, int64_t cell) const {
    const std::vector<double>& price = prices_.cells[number];
    return static_cast<double>(core_.edges[number].at(cell)) + (price.empty() ? 0 : price[cell]);
  }
  void EliminateAt(int step);
  void Lower(const std::vector<int>& terms, int place, double* least, int64_t cells);
  Term& AddTerm() {
    if (term_count_ == terms_.size()) terms_.emplace_back();
    return terms_[term_count_++];
  }
  void File(int term) { buckets_[step_of_[terms_[term].scope[0]]].push_back(term); }

  // `cost`: what the assignment costs at least with the values chosen so far.
  template <typename Take, typename Enter, typename Leave>
  bool Descend(int step, double cost, const double* limit, Take& take, Enter& enter, Leave& leave) {
    if (step == 0) return take(values_out_);
    const int place = order_[step - 1];
    Level& level = levels_[step - 1];
    const double best = CostsAt(step - 1, *limit - cost, level);
    for (const int choice : level.by_cost) {
      const double here = cost + level.costs[choice] - best;
      if (here >= *limit) break;
      if (--steps_ < 0) return false;
      const int value = values_[place][choice];
      chosen_[place] = choice;
      values_out_[place] = value;
      const bool go = !enter(place, value) || Descend(step - 1, here, limit, take, enter, leave);
      leave(place, value);
      if (!go) return false;
    }
    return true;
  }
  double CostsAt(int step, double room, Level& level);

  const MemoryCore& core_;
  std::vector<int> place_;  // by variable of the core: its place in variables_, or -1
  int64_t cells_ = 0;       // of all edges of the core
  CorePrices prices_;
  std::vector<std::vector<double>> tables_;  // [2 * edge + b first]: costs; empty: not used yet
  std::vector<int> variables_;
  std::vector<std::vector<int>> values_;    // by place: those that are tried
  std::vector<std::vector<double>> costs_;  // by place and entry of values_
  std::vector<uint64_t> neighbours_;        // by place: a bit for each place that it meets
  std::vector<int> order_;                  // the places that have a choice
  std::vector<int> step_of_;                // by place: where it is in order_, or -1
  std::vector<Term> terms_;
  size_t term_count_ = 0;
  std::vector<std::vector<int>> buckets_;  // by step: terms
  std::vector<Level> levels_;
  std::vector<int> scope_, value_;
  std::vector<int64_t> strides_;
  std::vector<double> sum_;
  std::vector<int> chosen_, values_out_;
  double least_ = 0, current_ = 0;
  int steps_ = 0;
  int64_t sums_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_REGION_H_
