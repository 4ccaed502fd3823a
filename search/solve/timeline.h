// Points of time as rows: what is in use during [begin, end) counts in the rows
// [RowAt(begin), RowAt(end)).
//
// Example: of the times 0, 4 and 9, use during [2, 9) counts in row 1 alone, and a price at time 6
// belongs to row 1 too.
#ifndef YUBA_SEARCH_SOLVE_TIMELINE_H_
#define YUBA_SEARCH_SOLVE_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "search/plan/memory_price.h"

namespace yuba::search {

class Timeline {
 public:
  Timeline() = default;
  explicit Timeline(std::vector<int64_t> times);  // in any order, with repetitions

  int rows() const { return static_cast<int>(times_.size()); }
  int64_t time(int row) const { return times_[row]; }
  int RowAt(int64_t time) const;  // the first row at that time or after it; rows() where none is

  // By row: `scale` times the prices that belong to it, in bytes moved, of which one is `units` of
  // a price. A price belongs to the row at its time, or to the last row before it, where at least
  // as much is in use; to none where there is no such row.
  std::vector<double> PricesByRow(const std::vector<MemoryPrice>& prices, double scale,
                                  int64_t units) const;

 private:
  std::vector<int64_t> times_;  // ascending
};

// [row]: the sum of the numbers of the rows before it; one entry more than rows. The rows
// [begin, end) together have result[end] - result[begin].
std::vector<double> SumsBefore(const std::vector<double>& of_rows);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_TIMELINE_H_
