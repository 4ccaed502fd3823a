// Messages through a table of costs: of each value on the other side the least sum of its cost and
// what was sent.
#ifndef YUBA_SEARCH_SOLVE_MIN_PLUS_H_
#define YUBA_SEARCH_SOLVE_MIN_PLUS_H_

#include <cstdint>
#include <vector>

namespace yuba::search {

class MinPlus {
 public:
  // `costs`: row-major, all finite. They are kept to 24 bits, since time is that of reading them.
  MinPlus(std::vector<float> costs, int rows);

  // By column: the least of source[row] + cost. Rows at infinity send nothing; `message` is
  // infinity where none does.
  void ToColumns(const std::vector<double>& source, std::vector<double>* message) const;
  // By row: the least of source[column] + cost.
  void ToRows(const std::vector<double>& source, std::vector<double>* message) const;

 private:
  struct Range {
    double least, greatest;
  };

  std::vector<float> costs_;
  std::vector<Range> ranges_;  // of the costs of each row
  int64_t columns_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MIN_PLUS_H_
