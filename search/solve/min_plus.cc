#include "search/solve/min_plus.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "opsemantics/base/inner_loop.h"

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Tables of at most so many cells are kept both ways, so that both directions can leave out rows;
// larger ones do not fit a processor's cache twice.
constexpr size_t kBothWays = size_t{1} << 16;

template <typename Cell>
inline __attribute__((always_inline)) void Lower(double* least, const Cell* row, double more,
                                                 int size) {
  for (int i = 0; i < size; ++i) {
    const double value = row[i] + more;
    least[i] = value < least[i] ? value : least[i];
  }
}

YUBA_INNER_LOOP void LowerTo(double* least, const float* row, double more, int size) {
  Lower(least, row, more, size);
}

YUBA_INNER_LOOP void LowerTo(double* least, const double* row, double more, int size) {
  Lower(least, row, more, size);
}

template <typename Cell>
inline __attribute__((always_inline)) double Least(const Cell* a, const double* b, int size) {
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

YUBA_INNER_LOOP double LeastSum(const float* a, const double* b, int size) {
  return Least(a, b, size);
}

YUBA_INNER_LOOP double LeastSum(const double* a, const double* b, int size) {
  return Least(a, b, size);
}

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
MinPlus<Cell>::Rows::Rows(std::vector<Cell> cells_of, int64_t width_of)
    : cells(std::move(cells_of)), width(width_of) {
  for (auto row = cells.begin(); row != cells.end(); row += width) {
    const auto ends = std::minmax_element(row, row + width);
    least.push_back(*ends.first);
    greatest.push_back(*ends.second);
  }
}

template <typename Cell>
void MinPlus<Cell>::Rows::Lower(const std::vector<double>& source,
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
MinPlus<Cell>::MinPlus(std::vector<Cell> costs, int rows) {
  const int64_t columns = static_cast<int64_t>(costs.size()) / rows;
  if (costs.size() <= kBothWays) along_columns_ = Rows(Turned(costs, rows, columns), rows);
  along_rows_ = Rows(std::move(costs), columns);
}

template <typename Cell>
void MinPlus<Cell>::ToColumns(const std::vector<double>& source,
                              std::vector<double>* message) const {
  along_rows_.Lower(source, message);
}

template <typename Cell>
void MinPlus<Cell>::ToRows(const std::vector<double>& source, std::vector<double>* message) const {
  if (!along_columns_.cells.empty()) return along_columns_.Lower(source, message);
  const auto width = static_cast<int>(columns());
  message->resize(along_rows_.least.size());
  for (size_t row = 0; row < message->size(); ++row) {
    (*message)[row] = LeastSum(&along_rows_.cells[row * width], source.data(), width);
  }
}

template class MinPlus<float>;
template class MinPlus<double>;

}  // namespace yuba::search
