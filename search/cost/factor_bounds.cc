#include "search/cost/factor_bounds.h"

#include <algorithm>
#include <utility>

namespace yuba::search {
namespace {

int KindsOf(const std::vector<int>& kinds) {
  return kinds.empty() ? 0 : 1 + *std::max_element(kinds.begin(), kinds.end());
}

// [grid]: a number for its kinds in two factors.
std::vector<int> Joint(const std::vector<int>& a, const std::vector<int>& b,
                       Numbering<std::pair<int, int>>* kinds) {
  std::vector<int> joint;
  joint.reserve(a.size());
  for (size_t grid = 0; grid < a.size(); ++grid) joint.push_back(kinds->Of({a[grid], b[grid]}));
  return joint;
}

}  // namespace

FactorBounds::FactorBounds(std::vector<int> rows, std::vector<int> columns)
    : rows_(std::move(rows)),
      columns_(std::move(columns)),
      row_kinds_(KindsOf(rows_)),
      column_kinds_(KindsOf(columns_)) {}

void FactorBounds::SetAll(absl::FunctionRef<int(int row_kind, int column_kind)> bound_of) {
  numbers_.reserve(pairs());
  for (int row = 0; row < row_kinds_; ++row) {
    for (int column = 0; column < column_kinds_; ++column) {
      numbers_.push_back(bounds_.Of(bound_of(row, column)));
    }
  }
}

void FactorBounds::JoinKinds() {
  Numbering<std::vector<int>> rows, columns;
  std::vector<int> row_of, column_of;  // [kind]
  for (int row = 0; row < row_kinds_; ++row) {
    row_of.push_back(rows.Of({OfRow(row), OfRow(row) + column_kinds_}));
  }
  for (int column = 0; column < column_kinds_; ++column) {
    std::vector<int> numbers;
    for (const std::vector<int>& row : rows.things()) numbers.push_back(row[column]);
    column_of.push_back(columns.Of(numbers));
  }
  for (int& row : rows_) row = row_of[row];
  for (int& column : columns_) column = column_of[column];
  row_kinds_ = rows.size();
  column_kinds_ = columns.size();
  numbers_.clear();
  for (int row = 0; row < row_kinds_; ++row) {
    for (const std::vector<int>& column : columns.things()) numbers_.push_back(column[row]);
  }
}

FactorBounds Product(const FactorBounds& a, const FactorBounds& b,
                     absl::FunctionRef<int(int, int)> multiply) {
  Numbering<std::pair<int, int>> rows, columns;
  std::vector<int> row_kinds = Joint(a.rows_, b.rows_, &rows);
  FactorBounds product(std::move(row_kinds), Joint(a.columns_, b.columns_, &columns));
  const size_t size = b.bounds().size();
  std::vector<int> known(a.bounds().size() * size, -1);  // the products of two bounds
  product.SetAll([&](int row, int column) {
    const int x = a.OfRow(rows.at(row).first)[columns.at(column).first];
    const int y = b.OfRow(rows.at(row).second)[columns.at(column).second];
    int& bound = known[x * size + y];
    if (bound < 0) bound = multiply(a.bounds()[x], b.bounds()[y]);
    return bound;
  });
  return product;
}

std::pair<FactorBounds, FactorBounds> Halves(std::vector<FactorBounds> factors, size_t rows,
                                             size_t columns, int one,
                                             absl::FunctionRef<int(int, int)> multiply) {
  while (factors.size() < 2) {
    factors.emplace_back(std::vector<int>(rows, 0), std::vector<int>(columns, 0));
    factors.back().SetAll([&](int, int) { return one; });
  }
  const auto larger = [](const FactorBounds& a, const FactorBounds& b) {
    return a.pairs() > b.pairs();
  };
  while (factors.size() > 2) {
    // The two smallest, so that no product is much larger than it must be.
    std::stable_sort(factors.begin(), factors.end(), larger);
    FactorBounds last = std::move(factors.back());
    factors.pop_back();
    factors.back() = Product(factors.back(), last, multiply);
  }
  return {std::move(factors[0]), std::move(factors[1])};
}

}  // namespace yuba::search
