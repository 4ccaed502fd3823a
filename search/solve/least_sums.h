// The inner loops of messages through tables of costs (min_plus.h).
#ifndef YUBA_SEARCH_SOLVE_LEAST_SUMS_H_
#define YUBA_SEARCH_SOLVE_LEAST_SUMS_H_

namespace yuba::search {

// Lowers each of `least` to its cell of the row and `more`.
void LowerTo(double* least, const float* row, double more, int size);
void LowerTo(double* least, const double* row, double more, int size);
// The least sum of an entry of `a` and that of `b`; infinity where there are none.
double LeastSum(const float* a, const double* b, int size);
double LeastSum(const double* a, const double* b, int size);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_LEAST_SUMS_H_
