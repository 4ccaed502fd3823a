// How many points an iteration space has whose indices are tied by equalities: in 2*p + u - 1 == q
// any index follows from the two others.
#ifndef YUBA_OPSEMANTICS_MACHINE_POINTS_H_
#define YUBA_OPSEMANTICS_MACHINE_POINTS_H_

#include <cstddef>
#include <vector>

namespace yuba {

// Indices of which one follows from the others: positions among all indices. An index that data
// give a value, as a look-up in a table, is one alone.
using TiedIndices = std::vector<int>;

// The product of the sizes, [index], without one index of each tie: the longest that no tie before
// has left out; an earlier index where several are as long. 0 where a size is 0.
//
// Example: sizes {4, 2, 9} and the tie {0, 1, 2} are 4 * 2 points.
inline double CountPoints(const std::vector<double>& sizes, const std::vector<TiedIndices>& ties) {
  std::vector<bool> left_out(sizes.size());
  for (const TiedIndices& tie : ties) {
    int longest = -1;
    for (const int index : tie) {
      if (left_out[index]) continue;
      if (longest < 0 || sizes[index] > sizes[longest]) longest = index;
    }
    if (longest >= 0) left_out[longest] = true;
  }
  double points = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!left_out[i] || sizes[i] <= 0) points *= sizes[i];
  }
  return points;
}

// Elements that loops of generated code take at a time, where a run has as many.
inline constexpr double kPointsAtATime = 8;

// Maps and reductions visit fewer points one by one, as their loops take some at a time.
inline constexpr double kPointsOfRun = 32;

// How often a kernel begins anew that visits so many points in runs of `row` points. Of a map or
// reduction a shorter run than kPointsOfRun is that part of one: what it costs is its points.
inline double RunsOf(double points, double row, bool sums_products) {
  const double least = sums_products ? 1 : kPointsOfRun;
  return points / (row > least ? row : least);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_POINTS_H_
