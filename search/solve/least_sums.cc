#include "search/solve/least_sums.h"

#include <algorithm>
#include <limits>

#include "opsemantics/base/inner_loop.h"

namespace yuba::search {
namespace {

template <typename Cell>
inline __attribute__((always_inline)) void Lower(double* least, const Cell* row, double more,
                                                 int size) {
  for (int i = 0; i < size; ++i) {
    const double value = row[i] + more;
    least[i] = value < least[i] ? value : least[i];
  }
}

template <typename Cell>
inline __attribute__((always_inline)) double Least(const Cell* a, const double* b, int size) {
  constexpr int kLanes = 32;
  double lanes[kLanes];
  for (double& lane : lanes) lane = std::numeric_limits<double>::infinity();
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

YUBA_INNER_LOOP void LowerTo(double* least, const float* row, double more, int size) {
  Lower(least, row, more, size);
}

YUBA_INNER_LOOP void LowerTo(double* least, const double* row, double more, int size) {
  Lower(least, row, more, size);
}

YUBA_INNER_LOOP double LeastSum(const float* a, const double* b, int size) {
  return Least(a, b, size);
}

YUBA_INNER_LOOP double LeastSum(const double* a, const double* b, int size) {
  return Least(a, b, size);
}

}  // namespace yuba::search
