// The half of UseCosts for grids.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/optional.h"
#include "search/cost/crossings.h"
#include "search/cost/factor_bounds.h"
#include "search/cost/grid_bounds.h"
#include "search/cost/numbering.h"
#include "search/cost/use_costs.h"
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

// The cells of node grids that all cut the reduction, or all do not. A cell depends on the bounds
// of both halves of the factors, and else only on the class of its row and that of its column.
// There are few of each, so most cells are known when they are asked for.
class UseCosts::GridTable {
 public:
  // `partial`: all node grids cut the reduction.
  GridTable(UseCosts& use, bool partial, const std::vector<Grid>& tensor_grids,
            const std::vector<Grid>& node_grids)
      : use_(use),
        partial_(partial),
        tensor_grids_(tensor_grids),
        crossings_(CrossingsOf(use, partial)),
        bounds_(use.devices_, crossings_.has_value() ? &*crossings_ : nullptr),
        halves_(Halves(
            bounds_.OfFactors(use.type_.dims, tensor_grids, node_grids, &use.RegionsOf(partial)),
            tensor_grids.size(), node_grids.size(), bounds_.one(),
            [&](int a, int b) { return bounds_.Product(a, b); })) {
    AddRows();
    AddColumns(node_grids);
  }

  // Calls `row` for each tensor grid, in some order, with its costs by node grid.
  template <typename Row>
  void ForEachRow(const Budget& budget, const Row& row) {
    const auto& [first, second] = halves_;
    const size_t classes = classes_.size(), seconds = second.bounds().size();
    std::vector<int64_t> cells(columns_.size());
    // By bound of the first half, bound of the second and class of the column.
    KnownCosts known(first.bounds().size() * seconds * classes,
                     tensor_grids_.size() * cells.size());
    for (size_t at = 0; at < row_order_.size() && !budget.ShouldStop(); ++at) {
      const size_t r = row_order_[at];
      if (at > 0 && row_classes_[r] != row_classes_[row_order_[at - 1]]) known.Clear();
      const int* const of_first = first.OfRow(first.rows()[r]);
      const int* const of_second = second.OfRow(second.rows()[r]);
      for (size_t c = 0; c < cells.size(); ++c) {
        const size_t a = of_first[first.columns()[c]], b = of_second[second.columns()[c]];
        int64_t& cost = known.At((a * seconds + b) * classes + columns_[c]);
        if (cost < 0) {
          cost = CellOf(r, classes_[columns_[c]], first.bounds()[a], second.bounds()[b]);
        }
        cells[c] = cost;
      }
      row(r, cells);
    }
  }

 private:
  struct ColumnClass {
    Grid grid;          // the first of the class
    int64_t boxes = 0;  // of a gather as many as devices, of a reduction as first producers
    Crossings::Partials partials;
  };

  static absl::optional<Crossings> CrossingsOf(UseCosts& use, bool partial) {
    if (!use.objective_.IsTime() || use.OfPartials()) return absl::nullopt;
    return Crossings(use.definition_, use.operand_, use.mesh_, partial,
                     use.RegionsOf(partial).factors());
  }

  // One class after the other.
  void AddRows() {
    Numbering<std::vector<int64_t>> numbers;
    for (const Grid& tensor : tensor_grids_) {
      std::vector<int64_t> parts;
      for (const std::vector<int>& of_kind : tensor) parts.push_back(Product(of_kind));
      row_classes_.push_back(numbers.Of(parts));
      if (numbers.size() == static_cast<int>(all_parts_.size())) continue;
      all_parts_.push_back(Product(PartsOf(tensor)));
      if (crossings_.has_value()) owners_.push_back(crossings_->OwnersOf(tensor));
    }
    row_order_.resize(tensor_grids_.size());
    std::iota(row_order_.begin(), row_order_.end(), 0);
    std::stable_sort(row_order_.begin(), row_order_.end(),
                     [&](size_t a, size_t b) { return row_classes_[a] < row_classes_[b]; });
  }

  void AddColumns(const std::vector<Grid>& node_grids) {
    Numbering<std::vector<int64_t>> numbers;
    for (const Grid& grid : node_grids) {
      ColumnClass column = {grid, use_.BoxesOf(grid), {}};
      std::vector<int64_t> depends_on = {column.boxes};
      if (crossings_.has_value()) {
        column.partials = crossings_->PartialsOf(grid);
        depends_on.push_back(column.partials.all);
        depends_on.insert(depends_on.end(), column.partials.near.begin(),
                          column.partials.near.end());
      }
      // What MayKeepGroups asks of a reader.
      for (size_t kind = 0; use_.WithinGroups() && kind < grid.size(); ++kind) {
        depends_on.push_back(Product(grid[kind]) / grid[kind].back());
      }
      columns_.push_back(numbers.Of(depends_on));
      if (numbers.size() > static_cast<int>(classes_.size())) classes_.push_back(std::move(column));
    }
  }

  // `a`, `b`: the bounds of both halves.
  int64_t CellOf(size_t row, const ColumnClass& column, int a, int b) {
    const Grid& tensor = tensor_grids_[row];
    if (use_.WithinGroups() && !MayKeepGroups(tensor, column.grid)) return kNever;
    const int row_class = row_classes_[row];
    NodeSide side = use_.SideOf(partial_);
    side.elements = bounds_.ElementsOfProduct(a, b, column.boxes);
    int64_t overlap = bounds_.OverlapOfProduct(a, b);
    // First owners are one device for each part of the tensor, so that their shards together are
    // no more than all of it.
    if (partial_ && !use_.IntoPartials()) overlap = std::min(overlap, use_.elements_);
    const int64_t bytes = use_.CostOf(side, all_parts_[row_class], overlap);
    if (bytes == 0 || !use_.objective_.IsTime()) return bytes;
    LeastMoved least;
    least.bytes[0] = bytes / use_.times_;
    least.messages[0] = use_.devices_;
    if (crossings_.has_value()) {
      const Crossings::Owners& owners = owners_[row_class];
      const int64_t arriving = side.elements * (use_.operand_ < 0 ? owners.all : 1);
      crossings_->Add(bounds_.FoundOfProduct(a, b), owners, column.partials, arriving,
                      side.size / use_.times_, &least);
    }
    return use_.objective_.LeastExchange(least, use_.devices_) * use_.times_;
  }

  UseCosts& use_;
  const bool partial_;
  const std::vector<Grid>& tensor_grids_;
  const absl::optional<Crossings> crossings_;  // only of times
  GridBounds bounds_;
  const std::pair<FactorBounds, FactorBounds> halves_;
  std::vector<ColumnClass> classes_;
  std::vector<int> columns_;               // [node grid]: its class
  std::vector<int> row_classes_;           // [tensor grid]
  std::vector<int64_t> all_parts_;         // [row class]: of the tensor
  std::vector<Crossings::Owners> owners_;  // [row class], with crossings_
  std::vector<size_t> row_order_;
};

std::vector<int> UseCosts::IndicesThatMatter() const {
  std::vector<bool> matters(definition_.indices.size(), operand_ < 0 || OfPartials());
  for (const BoxFactor& factor : whole_.factors()) {
    for (const int index : factor.indices) matters[index] = true;
  }
  std::vector<int> indices;
  for (size_t i = 0; i < matters.size(); ++i) {
    if (matters[i]) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

std::vector<int64_t> UseCosts::Relaxed(const std::vector<Grid>& tensor_grids,
                                       const std::vector<Grid>& node_grids, const Budget& budget) {
  const std::vector<int> indices = IndicesThatMatter();
  struct Columns {
    Numbering<Grid> cuts;                        // of those indices: such grids cost the same
    std::vector<Grid> first;                     // [cut]: a grid with it
    std::vector<std::pair<size_t, int>> places;  // of node grids, with their cuts
  };
  Columns columns[2];  // [whether the reduction is cut]
  for (size_t c = 0; c < node_grids.size(); ++c) {
    auto& [cuts, first, places] = columns[IsPartial(node_grids[c])];
    places.emplace_back(c, cuts.Of(GridAlong(node_grids[c], indices)));
    if (cuts.size() > static_cast<int>(first.size())) first.push_back(node_grids[c]);
  }
  std::vector<int64_t> cells(tensor_grids.size() * node_grids.size(), 0);
  for (const bool partial : {false, true}) {
    const Columns& alike = columns[partial];
    if (alike.places.empty()) continue;
    GridTable table(*this, partial, tensor_grids, alike.first);
    table.ForEachRow(budget, [&](size_t r, const std::vector<int64_t>& costs) {
      int64_t* const row = cells.data() + r * node_grids.size();
      for (const auto& [place, cut] : alike.places) row[place] = costs[cut];
    });
  }
  return cells;
}

}  // namespace yuba::search
