// The half of UseCosts for grids.
#include <array>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "search/cost/grid_table.h"
#include "search/cost/numbering.h"
#include "search/cost/use_costs.h"

namespace yuba::search {
namespace {

std::vector<size_t> All(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

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

// Node grids in which what matters is cut alike cost the same.
struct UseCosts::Columns {
  Numbering<Grid> cuts;                        // of the indices that matter
  std::vector<Grid> first;                     // [cut]: a grid with it
  std::vector<std::pair<size_t, int>> places;  // of node grids, with their cuts
};

std::array<UseCosts::Columns, 2> UseCosts::ColumnsOf(const std::vector<Grid>& node_grids) const {
  const std::vector<int> indices = IndicesThatMatter();
  std::array<Columns, 2> columns;
  for (size_t c = 0; c < node_grids.size(); ++c) {
    auto& [cuts, first, places] = columns[IsPartial(node_grids[c])];
    places.emplace_back(c, cuts.Of(GridAlong(node_grids[c], indices)));
    if (cuts.size() > static_cast<int>(first.size())) first.push_back(node_grids[c]);
  }
  return columns;
}

std::vector<int64_t> UseCosts::Relaxed(const std::vector<Grid>& tensor_grids,
                                       const std::vector<Grid>& node_grids, const Budget& budget) {
  const std::array<Columns, 2> columns = ColumnsOf(node_grids);
  std::vector<int64_t> cells(tensor_grids.size() * node_grids.size(), 0);
  for (const bool partial : {false, true}) {
    const Columns& alike = columns[partial];
    if (alike.places.empty()) continue;
    GridTable table(*this, partial, LinkTerm::kAll, tensor_grids, alike.first);
    table.ForEachRow(All(tensor_grids.size()), All(alike.first.size()), budget,
                     [&](size_t r, const std::vector<int64_t>& costs) {
                       int64_t* const row = cells.data() + r * node_grids.size();
                       for (const auto& [place, cut] : alike.places) row[place] = costs[cut];
                     });
  }
  return cells;
}

// Appends the table of one term. Its rows are classes in both tables of node grids, of those that
// cut the reduction and of the others; its columns are the classes of either.
ClassTable UseCosts::AddTerm(LinkTerm term, const std::vector<Grid>& tensor_grids,
                             const std::array<Columns, 2>& columns, size_t node_grids,
                             const Budget& budget, std::vector<int64_t>* cells) {
  std::vector<std::vector<int64_t>> parts[2];  // [row class][column class]
  std::vector<int> row_of[2];
  ClassTable result;
  result.column_of.resize(node_grids);
  result.columns = 0;
  for (const bool partial : {false, true}) {
    const Columns& alike = columns[partial];
    row_of[partial].resize(tensor_grids.size(), 0);
    parts[partial].resize(1);
    if (alike.places.empty()) continue;
    GridTable table(*this, partial, term, tensor_grids, alike.first);
    GridTable::Classes rows = table.RowClasses();
    const GridTable::Classes of_columns = table.ColumnClasses();
    parts[partial].resize(rows.first.size());
    table.ForEachRow(
        rows.first, of_columns.first, budget,
        [&](size_t row, const std::vector<int64_t>& costs) { parts[partial][row] = costs; });
    row_of[partial] = std::move(rows.of);
    for (const auto& [place, cut] : alike.places) {
      result.column_of[place] = static_cast<int>(result.columns) + of_columns.of[cut];
    }
    result.columns += static_cast<int64_t>(of_columns.first.size());
  }
  result.begin = static_cast<int64_t>(cells->size());
  Numbering<std::pair<int, int>> rows;
  for (size_t t = 0; t < tensor_grids.size(); ++t) {
    result.row_of.push_back(rows.Of({row_of[0][t], row_of[1][t]}));
  }
  for (const auto& [whole, partial] : rows.things()) {
    cells->insert(cells->end(), parts[0][whole].begin(), parts[0][whole].end());
    cells->insert(cells->end(), parts[1][partial].begin(), parts[1][partial].end());
  }
  return result;
}

CostsByGrid UseCosts::ByGrid(const std::vector<Grid>& tensor_grids,
                             const std::vector<Grid>& node_grids, const Budget& budget) {
  if (IsSum(tensor_grids.size(), node_grids.size())) {
    return SumOfTerms(tensor_grids, node_grids, budget);
  }
  std::vector<int64_t> cells = Relaxed(tensor_grids, node_grids, budget);
  return {std::make_shared<const std::vector<int64_t>>(std::move(cells)), nullptr};
}

CostsByGrid UseCosts::SumOfTerms(const std::vector<Grid>& tensor_grids,
                                 const std::vector<Grid>& node_grids, const Budget& budget) {
  const std::array<Columns, 2> columns = ColumnsOf(node_grids);
  // The side that needs, which has few classes in the near term, are nodes that gather, and tensors
  // into which nodes reduce.
  std::vector<int64_t> cells;
  SumOfTables sum;
  for (const bool second : {false, true}) {
    const LinkTerm term = gathers() != second ? LinkTerm::kNear : LinkTerm::kFar;
    sum[second] = AddTerm(term, tensor_grids, columns, node_grids.size(), budget, &cells);
    if (budget.end() != Budget::End::kNone) return {};
  }
  return {std::make_shared<const std::vector<int64_t>>(std::move(cells)),
          std::make_shared<const SumOfTables>(std::move(sum))};
}

}  // namespace yuba::search
