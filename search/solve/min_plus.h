// One table of costs, through which messages are sent: each value on one side receives the least,
// over the values on the other side, of cost plus what that value sends.
#ifndef YUBA_SEARCH_SOLVE_MIN_PLUS_H_
#define YUBA_SEARCH_SOLVE_MIN_PLUS_H_

#include <cstdint>
#include <vector>

namespace yuba::search {

class MinPlus {
 public:
  // `costs`: row-major, all finite. As floats they have 24 bits: a pass takes as long as reading
  // them.
  MinPlus(std::vector<float> costs, int rows);

  // message[column]: the least of source[row] + cost. Rows at infinity send nothing; where none
  // sends anything the message is infinity.
  void ToColumns(const std::vector<double>& source, std::vector<double>* message) const;
  // message[row]: the least of source[column] + cost.
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
