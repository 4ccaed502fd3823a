#include "search/solve/min_plus.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "opsemantics/base/inner_loop.h"

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

YUBA_INNER_LOOP void LowerTo(double* least, const float* row, double more, int size) {
  for (int i = 0; i < size; ++i) {
    const double value = row[i] + more;
    least[i] = value < least[i] ? value : least[i];
  }
}

YUBA_INNER_LOOP double LeastSum(const float* a, const double* b, int size) {
  constexpr int kLanes = 32;
  double lanes[kLanes];
  for (double& lane : lanes) lane = kInfinity;
  int i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double sum = a[i + lane] + b[i + lane];
      lanes[lane] = sum < lanes[lane] ? sum : lanes[lane];
    }
  }
  double least = *std::min_element(lanes, lanes + kLanes);
  for (; i < size; ++i) least = std::min(least, a[i] + b[i]);
  return least;
}

}  // namespace

MinPlus::MinPlus(std::vector<float> costs, int rows)
    : costs_(std::move(costs)), columns_(static_cast<int64_t>(costs_.size()) / rows) {
  for (auto row = costs_.begin(); row != costs_.end(); row += columns_) {
    const auto ends = std::minmax_element(row, row + columns_);
    ranges_.push_back({*ends.first, *ends.second});
  }
}

void MinPlus::ToColumns(const std::vector<double>& source, std::vector<double>* message) const {
  message->assign(columns_, kInfinity);
  // A row whose least sum is above the greatest sum of another is nowhere the best.
  double enough = kInfinity;
  for (size_t row = 0; row < ranges_.size(); ++row) {
    enough = std::min(enough, source[row] + ranges_[row].greatest);
  }
  for (size_t row = 0; row < ranges_.size(); ++row) {
    if (source[row] == kInfinity || source[row] + ranges_[row].least > enough) continue;
    LowerTo(message->data(), &costs_[row * columns_], source[row], static_cast<int>(columns_));
  }
}

void MinPlus::ToRows(const std::vector<double>& source, std::vector<double>* message) const {
  message->resize(ranges_.size());
  for (size_t row = 0; row < ranges_.size(); ++row) {
    (*message)[row] = LeastSum(&costs_[row * columns_], source.data(), static_cast<int>(columns_));
  }
}

}  // namespace yuba::search
