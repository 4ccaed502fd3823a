#include "search/solve/timeline.h"

#include <algorithm>
#include <utility>

namespace yuba::search {

Timeline::Timeline(std::vector<int64_t> times) : times_(std::move(times)) {
  std::sort(times_.begin(), times_.end());
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
}

int Timeline::RowAt(int64_t time) const {
  return static_cast<int>(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin());
}

std::vector<double> Timeline::PricesByRow(const std::vector<MemoryPrice>& prices, double scale,
                                          int64_t units) const {
  std::vector<double> by_row(times_.size(), 0);
  for (const MemoryPrice& price : prices) {
    const auto after = std::upper_bound(times_.begin(), times_.end(), price.time);
    if (after == times_.begin()) continue;
    by_row[after - times_.begin() - 1] +=
        scale * static_cast<double>(price.price) / static_cast<double>(units);
  }
  return by_row;
}

std::vector<double> SumsBefore(const std::vector<double>& of_rows) {
  std::vector<double> sums(of_rows.size() + 1, 0);
  for (size_t row = 0; row < of_rows.size(); ++row) sums[row + 1] = sums[row] + of_rows[row];
  return sums;
}

}  // namespace yuba::search
