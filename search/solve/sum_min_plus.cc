#include "search/solve/sum_min_plus.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "opsemantics/base/inner_loop.h"
#include "search/solve/least_sums.h"

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Lowers each place to its cell and the number of its run.
YUBA_INNER_LOOP void LowerRuns(double* least, const float* row, const double* of_run,
                               const int* begin, int64_t runs) {
  for (int64_t run = 0; run < runs; ++run) {
    const double more = of_run[run];
    for (int i = begin[run]; i < begin[run + 1]; ++i) {
      const double value = row[i] + more;
      least[i] = value < least[i] ? value : least[i];
    }
  }
}

// By run: lowers it to the least sum of its places' cells and numbers.
YUBA_INNER_LOOP void LowerToRuns(double* of_run, const float* row, const double* numbers,
                                 const int* begin, int64_t runs) {
  for (int64_t run = 0; run < runs; ++run) {
    double least = kInfinity;
    for (int i = begin[run]; i < begin[run + 1]; ++i) {
      const double value = row[i] + numbers[i];
      least = value < least ? value : least;
    }
    of_run[run] = least;
  }
}

int RowsOf(const ClassTable& table) {
  return 1 + *std::max_element(table.row_of.begin(), table.row_of.end());
}

}  // namespace

SumMinPlus::SumMinPlus(const SumOfTables& tables, const std::vector<int64_t>& cells, int64_t most)
    : first_row_(tables[0].row_of),
      second_row_(tables[1].row_of),
      value_at_(tables[0].column_of.size()),
      place_of_(value_at_.size()),
      runs_(tables[0].columns),
      second_rows_(RowsOf(tables[1])) {
  const std::vector<int>& run_of = tables[0].column_of;
  std::iota(value_at_.begin(), value_at_.end(), 0);
  std::stable_sort(value_at_.begin(), value_at_.end(),
                   [&](int a, int b) { return run_of[a] < run_of[b]; });
  // Some classes may have no value: their runs are empty.
  run_begin_.resize(runs_ + 1, 0);
  for (const int run : run_of) ++run_begin_[run + 1];
  std::partial_sum(run_begin_.begin(), run_begin_.end(), run_begin_.begin());
  for (size_t place = 0; place < value_at_.size(); ++place) {
    place_of_[value_at_[place]] = static_cast<int>(place);
  }
  run_of_ = run_of;
  const auto cell = [&](int64_t at) { return static_cast<float>(std::min(cells[at], most)); };
  const int64_t first_cells = RowsOf(tables[0]) * runs_;
  for (int64_t at = 0; at < first_cells; ++at) first_.push_back(cell(tables[0].begin + at));
  for (int64_t row = 0; row < second_rows_; ++row) {
    const int64_t begin = tables[1].begin + row * tables[1].columns;
    for (const int value : value_at_) second_.push_back(cell(begin + tables[1].column_of[value]));
  }
}

float SumMinPlus::at(int64_t row, int64_t column) const {
  return first_[first_row_[row] * runs_ + run_of_[column]] +
         second_[second_row_[row] * value_at_.size() + place_of_[column]];
}

void SumMinPlus::ToColumns(const std::vector<double>& source, std::vector<double>* message) const {
  std::vector<double> least(second_rows_ * runs_, kInfinity);  // [row of the second table][run]
  for (size_t row = 0; row < source.size(); ++row) {
    if (source[row] == kInfinity) continue;
    LowerTo(&least[second_row_[row] * runs_], &first_[first_row_[row] * runs_], source[row],
            static_cast<int>(runs_));
  }
  std::vector<double> by_place(value_at_.size(), kInfinity);
  for (int64_t row = 0; row < second_rows_; ++row) {
    LowerRuns(by_place.data(), &second_[row * by_place.size()], &least[row * runs_],
              run_begin_.data(), runs_);
  }
  message->resize(by_place.size());
  for (size_t value = 0; value < by_place.size(); ++value) {
    (*message)[value] = by_place[place_of_[value]];
  }
}

void SumMinPlus::ToRows(const std::vector<double>& source, std::vector<double>* message) const {
  std::vector<double> by_place(source.size());
  for (size_t place = 0; place < source.size(); ++place) by_place[place] = source[value_at_[place]];
  std::vector<double> least(second_rows_ * runs_);
  for (int64_t row = 0; row < second_rows_; ++row) {
    LowerToRuns(&least[row * runs_], &second_[row * by_place.size()], by_place.data(),
                run_begin_.data(), runs_);
  }
  message->resize(first_row_.size());
  for (size_t row = 0; row < message->size(); ++row) {
    (*message)[row] = LeastSum(&first_[first_row_[row] * runs_], &least[second_row_[row] * runs_],
                               static_cast<int>(runs_));
  }
}

}  // namespace yuba::search
