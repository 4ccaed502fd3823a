#include "search/check/use_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace yuba::search {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

// With the length, so that what comes behind is not taken for a part of it.
template <typename Number>
void Append(const std::vector<Number>& numbers, std::vector<int64_t>* key) {
  key->push_back(static_cast<int64_t>(numbers.size()));
  key->insert(key->end(), numbers.begin(), numbers.end());
}

// 0, 1, 2, ...
std::vector<int> Numbers(size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

TensorSides::TensorSides(const Mesh& mesh, const std::vector<Grid>& grids) {
  std::map<std::vector<int64_t>, int> known;  // by shards
  for (const Grid& grid : grids) {
    TensorSide side = TensorSideOf(mesh, grid);
    const auto [place, is_new] = known.emplace(side.shards, static_cast<int>(known.size()));
    if (is_new) different.push_back(std::move(side));
    which.push_back(place->second);
  }
}

UseRows::UseRows(const UseCost& cost, FactorPairs pairs, const TensorSides& tensors, size_t indices,
                 bool arranged)
    : cost_(cost),
      pairs_(std::move(pairs)),
      tensors_(tensors),
      arranged_(arranged),
      in_factor_(indices, false) {
  for (size_t f = 0; f < pairs_.size(); ++f) {
    for (const int index : pairs_.indices(f)) in_factor_[index] = true;
  }
}

int UseRows::NumberOf(const Grid& node) {
  Row row;
  row.side = &*sides_.insert(cost_.NodeSideOf(node, in_factor_)).first;
  std::vector<int> alike;
  for (size_t f = 0; f < pairs_.size(); ++f) {
    row.columns.push_back(pairs_.ColumnOf(f, node));
    alike.push_back(row.columns.back()->alike);
  }
  const auto [place, is_new] =
      numbers_.emplace(std::make_pair(row.side, std::move(alike)), static_cast<int>(rows_.size()));
  if (is_new) rows_.push_back(std::move(row));
  return place->second;
}

void UseRows::AppendKey(std::vector<int64_t>* key) const {
  key->push_back(static_cast<int64_t>(pairs_.size()));
  for (size_t f = 0; f < pairs_.size(); ++f) Append(pairs_.WaysOf(f), key);
  key->push_back(static_cast<int64_t>(pairs_.alike().size()));
  for (const std::vector<int>& numbers : pairs_.alike()) Append(numbers, key);
  key->push_back(static_cast<int64_t>(rows_.size()));
  for (const Row& row : rows_) {
    key->insert(key->end(), {row.side->sums, row.side->outside});
    Append(row.side->shards, key);
    Append(row.side->repeated, key);
    for (const FactorPairs::Column* column : row.columns) key->push_back(column->alike);
  }
}

void UseRows::Write(UseTable* table) const {
  std::vector<const std::vector<int>*> ways;
  for (size_t f = 0; f < pairs_.size(); ++f) ways.push_back(&pairs_.WaysOf(f));
  Arrangements arrangements(std::move(ways), pairs_.ways(), tensors_.which.size());
  const std::vector<size_t> groups = pairs_.Groups();
  const auto before = static_cast<int>(table->arrangements.size());
  const size_t first = table->rows.size();
  const std::vector<int> all_different = Numbers(pairs_.size());
  std::vector<Arrangements::Order> orders;  // by row
  for (const Row& row : rows_) {
    orders.push_back(OrderOf(row, groups));
    Arrangements::Order order = orders.back();
    if (!arranged_) order.alike = all_different;  // equal numbers would let factors change places
    table->rows.push_back({0, before + arrangements.NumberOf(order)});
  }
  for (const std::vector<int>& place : arrangements.places()) {
    table->arrangements.push_back({static_cast<size_t>(arrangements.size()), place});
  }
  // Rows with equal costs: by side, and by what columns of the arranged factors are alike to.
  std::map<std::pair<const NodeSide*, std::vector<int>>, size_t> begin;
  for (size_t r = 0; r < rows_.size(); ++r) {
    const auto [place, is_new] = begin.emplace(
        std::make_pair(rows_[r].side, std::move(orders[r].alike)), table->cells.size());
    if (is_new) table->cells.resize(table->cells.size() + arrangements.size(), kUnknown);
    UseTable::Row& row = table->rows[first + r];
    row.begin = place->second;
    Fill(rows_[r], table->arrangements[row.arrangement].place, table->cells.data() + row.begin);
  }
}

// Of factors that exchange pairs, those with columns of lesser numbers first.
Arrangements::Order UseRows::OrderOf(const Row& row, const std::vector<size_t>& groups) const {
  Arrangements::Order order;
  order.factors.resize(groups.size());
  std::iota(order.factors.begin(), order.factors.end(), 0);
  const auto key = [&](size_t f) { return std::make_tuple(groups[f], row.columns[f]->alike, f); };
  if (arranged_) {
    std::sort(order.factors.begin(), order.factors.end(),
              [&](size_t a, size_t b) { return key(a) < key(b); });
  }
  for (const size_t f : order.factors) order.alike.push_back(row.columns[f]->alike);
  return order;
}

// Computes those costs of the row that are not yet known.
void UseRows::Fill(const Row& row, const std::vector<int>& places, int64_t* costs) const {
  std::vector<const FactorPair*> pairs(pairs_.size());
  for (size_t t = 0; t < places.size(); ++t) {
    if (costs[places[t]] != kUnknown) continue;
    for (size_t f = 0; f < pairs.size(); ++f) {
      pairs[f] = &row.columns[f]->pairs[pairs_.WaysOf(f)[t]];
    }
    costs[places[t]] = cost_.Of(*row.side, tensors_.different[tensors_.which[t]], pairs);
  }
}

}  // namespace yuba::search
