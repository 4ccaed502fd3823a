#include "search/cost/grid_table.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "search/cost/numbering.h"
#include "search/plan/memory_price.h"

namespace yuba::search {
namespace {

// Costs by key, those that are known.
class KnownCosts {
 public:
  // Keys are below `keys`. A list where there are at most `most`, else a map.
  KnownCosts(size_t keys, size_t most) : list_(keys <= most ? keys : 0, -1) {}

  // -1: not known yet.
  int64_t& At(size_t key) {
    return list_.empty() ? map_.try_emplace(key, -1).first->second : list_[key];
  }
  void Clear() {
    std::fill(list_.begin(), list_.end(), -1);
    map_.clear();
  }

 private:
  std::vector<int64_t> list_;
  absl::flat_hash_map<size_t, int64_t> map_;
};

}  // namespace

UseCosts::GridTable::GridTable(UseCosts& use, bool partial, LinkTerm term,
                               const std::vector<Grid>& tensor_grids,
                               const std::vector<Grid>& node_grids)
    : use_(use),
      partial_(partial),
      term_(term),
      tensor_grids_(tensor_grids),
      crossings_(CrossingsOf(use, partial)),
      bounds_(use.devices_, crossings_.has_value() ? &*crossings_ : nullptr, term),
      halves_(Halves(
          bounds_.OfFactors(use.type_.dims, tensor_grids, node_grids, &use.RegionsOf(partial)),
          tensor_grids.size(), node_grids.size(), bounds_.one(),
          [&](int a, int b) { return bounds_.Product(a, b); })) {
  AddRows();
  AddColumns(node_grids);
}

absl::optional<Crossings> UseCosts::GridTable::CrossingsOf(UseCosts& use, bool partial) {
  if (!use.objective_.IsTime() || use.OfPartials()) return absl::nullopt;
  return Crossings(use.definition_, use.operand_, use.mesh_, partial,
                   use.RegionsOf(partial).factors());
}

// By what a cost depends on of the tensor but for the factors: how many parts there are; where
// kinds matter, of each kind; and of bytes that are gathered over outer links nothing.
void UseCosts::GridTable::AddRows() {
  Numbering<std::vector<int64_t>> numbers;
  for (const Grid& tensor : tensor_grids_) {
    std::vector<int64_t> parts;
    for (const std::vector<int>& of_kind : tensor) parts.push_back(Product(of_kind));
    const int64_t all = Product(PartsOf(tensor));
    if (term_ == LinkTerm::kNear) parts = {all};
    if (term_ == LinkTerm::kFar && use_.operand_ >= 0) parts.clear();
    row_classes_.push_back(numbers.Of(parts));
    if (numbers.size() == static_cast<int>(all_parts_.size())) continue;
    all_parts_.push_back(all);
    if (crossings_.has_value()) owners_.push_back(crossings_->OwnersOf(tensor));
  }
}

int64_t UseCosts::GridTable::BoxesOf(const Grid& node) const {
  int64_t boxes = use_.BoxesOf(node);
  if (term_ != LinkTerm::kFar || use_.type_.dims.empty()) return boxes;
  const std::vector<int> parts = PartsOf(node);
  for (const BoxFactor& factor : use_.RegionsOf(partial_).factors()) {
    for (const int index : factor.indices) boxes /= parts[index];
  }
  return boxes;
}

void UseCosts::GridTable::AddColumns(const std::vector<Grid>& node_grids) {
  Numbering<std::vector<int64_t>> numbers;
  for (const Grid& grid : node_grids) {
    ColumnClass column = {grid, BoxesOf(grid), {}};
    std::vector<int64_t> depends_on = {column.boxes};
    if (crossings_.has_value()) {
      column.partials = crossings_->PartialsOf(grid);
      depends_on.push_back(column.partials.all);
      depends_on.insert(depends_on.end(), column.partials.near.begin(), column.partials.near.end());
    }
    // What MayKeepGroups asks of a reader.
    for (size_t kind = 0; use_.WithinGroups() && kind < grid.size(); ++kind) {
      depends_on.push_back(Product(grid[kind]) / grid[kind].back());
    }
    columns_.push_back(numbers.Of(depends_on));
    if (numbers.size() > static_cast<int>(classes_.size())) classes_.push_back(std::move(column));
  }
}

namespace {

// `first`, `second`, `others`: what decides the class, by grid.
std::vector<size_t> Classify(const std::vector<int>& first, const std::vector<int>& second,
                             const std::vector<int>& others, std::vector<int>* classes) {
  Numbering<std::array<int, 3>> numbers;
  std::vector<size_t> firsts;
  for (size_t grid = 0; grid < first.size(); ++grid) {
    classes->push_back(numbers.Of({first[grid], second[grid], others[grid]}));
    if (numbers.size() > static_cast<int>(firsts.size())) firsts.push_back(grid);
  }
  return firsts;
}

}  // namespace

UseCosts::GridTable::Classes UseCosts::GridTable::RowClasses() const {
  Classes classes;
  classes.first = Classify(halves_.first.rows(), halves_.second.rows(), row_classes_, &classes.of);
  return classes;
}

UseCosts::GridTable::Classes UseCosts::GridTable::ColumnClasses() const {
  Classes classes;
  classes.first =
      Classify(halves_.first.columns(), halves_.second.columns(), columns_, &classes.of);
  return classes;
}

void UseCosts::GridTable::ForEachRow(
    const std::vector<size_t>& rows, const std::vector<size_t>& columns, const Budget& budget,
    absl::FunctionRef<void(size_t, const std::vector<int64_t>&)> row) {
  const auto& [first, second] = halves_;
  const size_t classes = classes_.size(), seconds = second.bounds().size();
  std::vector<int64_t> cells(columns.size());
  // By bound of the first half, bound of the second and class of the column.
  KnownCosts known(first.bounds().size() * seconds * classes, rows.size() * cells.size());
  std::vector<size_t> order(rows.size());  // one class of rows after the other
  std::iota(order.begin(), order.end(), 0);
  const auto class_at = [&](size_t at) { return row_classes_[rows[order[at]]]; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return row_classes_[rows[a]] < row_classes_[rows[b]];
  });
  for (size_t at = 0; at < order.size() && !budget.ShouldStop(); ++at) {
    const size_t r = rows[order[at]];
    if (at > 0 && class_at(at) != class_at(at - 1)) known.Clear();
    const int* const of_first = first.OfRow(first.rows()[r]);
    const int* const of_second = second.OfRow(second.rows()[r]);
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t c = columns[i];
      const size_t a = of_first[first.columns()[c]], b = of_second[second.columns()[c]];
      int64_t& cost = known.At((a * seconds + b) * classes + columns_[c]);
      if (cost < 0) {
        cost = CellOf(r, classes_[columns_[c]], first.bounds()[a], second.bounds()[b]);
      }
      cells[i] = cost;
    }
    row(order[at], cells);
  }
}

int64_t UseCosts::GridTable::CellOf(size_t row, const ColumnClass& column, int a, int b) {
  const Grid& tensor = tensor_grids_[row];
  if (use_.WithinGroups() && !MayKeepGroups(tensor, column.grid)) return kNever;
  const int row_class = row_classes_[row];
  NodeSide side = use_.SideOf(partial_);
  side.elements = bounds_.ElementsOfProduct(a, b, column.boxes);
  LeastMoved least;
  if (term_ != LinkTerm::kFar) {
    int64_t overlap = bounds_.OverlapOfProduct(a, b);
    // First owners are one device for each part of the tensor, so that their shards together are
    // no more than all of it.
    if (partial_ && !use_.IntoPartials()) overlap = std::min(overlap, use_.elements_);
    const int64_t bytes = use_.CostOf(side, all_parts_[row_class], overlap);
    if (bytes == 0 || !use_.objective_.IsTime()) return bytes;
    least.bytes[0] = bytes / use_.times_;
    least.messages[0] = use_.devices_;
  }
  if (crossings_.has_value()) {
    const Crossings::Owners& owners = owners_[row_class];
    const int64_t arriving = side.elements * (use_.operand_ < 0 ? owners.all : 1);
    crossings_->Add(bounds_.FoundOfProduct(a, b), owners, column.partials, arriving,
                    side.size / use_.times_, term_, &least);
  }
  const int64_t time = term_ == LinkTerm::kFar
                           ? use_.objective_.LeastCrossing(least, use_.devices_)
                           : use_.objective_.LeastExchange(least, use_.devices_);
  return time * use_.times_;
}

}  // namespace yuba::search
