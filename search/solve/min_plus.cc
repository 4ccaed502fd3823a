#include "search/solve/min_plus.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "search/solve/least_sums.h"

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Tables of at most so many cells are kept both ways, so that both directions can leave out rows;
// larger ones do not fit a processor's cache twice.
constexpr size_t kBothWays = size_t{1} << 16;

template <typename Cell>
std::vector<Cell> Turned(const std::vector<Cell>& cells, int64_t rows, int64_t columns) {
  std::vector<Cell> turned(cells.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      turned[column * rows + row] = cells[row * columns + column];
    }
  }
  return turned;
}

}  // namespace

template <typename Cell>
WholeMinPlus<Cell>::Rows::Rows(std::vector<Cell> cells_of, int64_t width_of)
    : cells(std::move(cells_of)), width(width_of) {
  for (auto row = cells.begin(); row != cells.end(); row += width) {
    const auto ends = std::minmax_element(row, row + width);
    least.push_back(*ends.first);
    greatest.push_back(*ends.second);
  }
}

template <typename Cell>
void WholeMinPlus<Cell>::Rows::Lower(const std::vector<double>& source,
                                     std::vector<double>* message) const {
  message->assign(width, kInfinity);
  // A row whose least sum is above the greatest sum of another is nowhere the best.
  double enough = kInfinity;
  for (size_t row = 0; row < least.size(); ++row) {
    enough = std::min(enough, source[row] + greatest[row]);
  }
  for (size_t row = 0; row < least.size(); ++row) {
    if (source[row] == kInfinity || source[row] + least[row] > enough) continue;
    LowerTo(message->data(), &cells[row * width], source[row], static_cast<int>(width));
  }
}

template <typename Cell>
WholeMinPlus<Cell>::WholeMinPlus(std::vector<Cell> costs, int rows) {
  const int64_t columns = static_cast<int64_t>(costs.size()) / rows;
  if (costs.size() <= kBothWays) along_columns_ = Rows(Turned(costs, rows, columns), rows);
  along_rows_ = Rows(std::move(costs), columns);
}

template <typename Cell>
void WholeMinPlus<Cell>::ToColumns(const std::vector<double>& source,
                                   std::vector<double>* message) const {
  along_rows_.Lower(source, message);
}

template <typename Cell>
void WholeMinPlus<Cell>::ToRows(const std::vector<double>& source,
                                std::vector<double>* message) const {
  if (!along_columns_.cells.empty()) return along_columns_.Lower(source, message);
  const auto width = static_cast<int>(along_rows_.width);
  message->resize(along_rows_.least.size());
  for (size_t row = 0; row < message->size(); ++row) {
    (*message)[row] = LeastSum(&along_rows_.cells[row * width], source.data(), width);
  }
}

template class WholeMinPlus<float>;
template class WholeMinPlus<double>;

}  // namespace yuba::search
