// An assignment of a core with its cost and its loads by row, kept up to date while single
// variables change. Some variables may be absent: they use nothing, and neither do their edges.
#ifndef YUBA_SEARCH_ROWS_MEMORY_STATE_H_
#define YUBA_SEARCH_ROWS_MEMORY_STATE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/rows/memory_core.h"

namespace yuba::search {

class MemoryState {
 public:
  static constexpr int kAbsent = -1;  // the value of a variable that is absent

  // The core must outlive this. All variables are absent at first.
  explicit MemoryState(const MemoryCore& core);

  void Start(const Assignment& assignment);
  void Move(int v, int to);  // variable v takes the value `to`, or becomes absent
  // Each variables[i] takes the value values[i].
  void Move(const std::vector<int>& variables, const std::vector<int>& values) {
    for (size_t i = 0; i < variables.size(); ++i) Move(variables[i], values[i]);
  }

  // Whether all rows are within their room and no cell is forbidden.
  bool Feasible() const { return overload_ == 0 && forbidden_ == 0; }
  // The core's constant included; kForbidden where some cell is.
  int64_t cost() const { return forbidden_ > 0 ? kForbidden : std::min(kForbidden, finite_); }
  // With `penalty` for each byte by which each row exceeds its room, and kForbidden for each
  // forbidden cell.
  double CostWith(double penalty) const {
    return static_cast<double>(finite_) + penalty * static_cast<double>(overload_) +
           static_cast<double>(kForbidden) * static_cast<double>(forbidden_);
  }
  int64_t overload() const { return overload_; }  // bytes by which rows exceed their room, summed
  const Assignment& assignment() const { return assignment_; }
  const std::vector<int64_t>& loads() const { return loads_; }  // by row

 private:
  void Load(int begin, int end, int64_t by);  // adds to the loads of the rows [begin, end)
  void Count(int64_t cell, int sign) {
    if (cell >= kForbidden)
      forbidden_ += sign;
    else
      finite_ += sign * cell;
  }
  int64_t Over(size_t row, int64_t load) const {
    return std::max<int64_t>(0, load - core_.room[row]);
  }

  const MemoryCore& core_;
  Assignment assignment_;
  std::vector<int64_t> loads_;
  int64_t finite_ = 0, forbidden_ = 0;  // the sum of allowed cells; the number of forbidden ones
  int64_t overload_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_STATE_H_
