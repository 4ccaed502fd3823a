// One table of costs, through which messages are sent: each value on one side receives the least,
// over the values on the other side, of cost plus what that value sends.
//
// Example: through the costs {{5, 0}, {2, 7}} the rows send {0, 1}: the columns receive {3, 0}.
#ifndef YUBA_SEARCH_SOLVE_MIN_PLUS_H_
#define YUBA_SEARCH_SOLVE_MIN_PLUS_H_

#include <cstdint>
#include <vector>

namespace yuba::search {

// Cell: float or double. Floats have 24 bits, and where cells are many a pass takes as long as
// reading them; doubles are for bounds that are read off the messages.
template <typename Cell>
class MinPlus {
 public:
  virtual ~MinPlus() = default;

  virtual Cell at(int64_t row, int64_t column) const = 0;
  // message[column]: the least of source[row] + cost. Rows at infinity send nothing; where none
  // sends anything the message is infinity.
  virtual void ToColumns(const std::vector<double>& source, std::vector<double>* message) const = 0;
  // message[row]: the least of source[column] + cost.
  virtual void ToRows(const std::vector<double>& source, std::vector<double>* message) const = 0;
};

// A table that is written out.
template <typename Cell>
class WholeMinPlus : public MinPlus<Cell> {
 public:
  // `costs`: row-major, at least one; infinity where no pair has both values.
  WholeMinPlus(std::vector<Cell> costs, int rows);

  Cell at(int64_t row, int64_t column) const override {
    return along_rows_.cells[row * along_rows_.width + column];
  }
  void ToColumns(const std::vector<double>& source, std::vector<double>* message) const override;
  void ToRows(const std::vector<double>& source, std::vector<double>* message) const override;

 private:
  // The cells one way, with the least and the greatest of each row.
  struct Rows {
    Rows() = default;
    Rows(std::vector<Cell> cells_of, int64_t width_of);
    void Lower(const std::vector<double>& source, std::vector<double>* message) const;

    std::vector<Cell> cells, least, greatest;
    int64_t width = 0;
  };

  Rows along_rows_, along_columns_;  // the latter for small tables alone
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MIN_PLUS_H_
