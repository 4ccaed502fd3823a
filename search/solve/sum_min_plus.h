// A sum of two tables of costs through which messages are sent (min_plus.h), without a look at all
// pairs of values.
//
// With cost(a, b) = X[a][x(b)] + Y[y(a)][b], x and y classes of values, the least over a of
// source(a) + cost(a, b) is the least over the classes y of Y[y][b] + W[y][x(b)], where W[y][x] is
// the least over the a of class y of source(a) + X[a][x]. With n values and c classes on either
// side that is 2 * n * c sums in place of n * n.
#ifndef YUBA_SEARCH_SOLVE_SUM_MIN_PLUS_H_
#define YUBA_SEARCH_SOLVE_SUM_MIN_PLUS_H_

#include <cstdint>
#include <vector>

#include "search/solve/min_plus.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

class SumMinPlus : public MinPlus<float> {
 public:
  // Cells above `most` count as that.
  SumMinPlus(const SumOfTables& tables, const std::vector<int64_t>& cells, int64_t most);

  float at(int64_t row, int64_t column) const override;
  void ToColumns(const std::vector<double>& source, std::vector<double>* message) const override;
  void ToRows(const std::vector<double>& source, std::vector<double>* message) const override;

 private:
  // [value of the rows]: its row of the first table and that of the second.
  std::vector<int> first_row_, second_row_;
  // Values of the columns are in the order of their columns of the first table: [place] the value,
  // [value] the place. Runs of them have one column there: [run] its first place, and the end.
  std::vector<int> value_at_, place_of_, run_begin_;
  std::vector<int> run_of_;  // [place]
  int64_t runs_ = 0, second_rows_ = 0;
  std::vector<float> first_, second_;  // [row][run], [row][place]
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_SUM_MIN_PLUS_H_
