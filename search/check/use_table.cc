#include "search/check/use_table.h"

#include "search/check/use_cost.h"
#include "search/check/use_rows.h"

namespace yuba::search {

UseTables::UseTables(const Mesh& mesh, const Objective& objective)
    : mesh_(mesh), objective_(objective) {}

std::shared_ptr<const UseTable> UseTables::Of(const Definition& definition, int operand,
                                              int64_t times, const std::vector<Grid>& node_grids,
                                              const std::vector<Grid>& tensor_grids) {
  const UseCost cost(mesh_, objective_, definition, operand, times);
  const TensorSides tensors(mesh_, tensor_grids);
  std::unique_ptr<UseRows> rows[2];  // [whether the node writes partials to be added up]
  UseTable table;
  std::vector<int64_t> key = cost.Key();
  std::vector<bool> sums_of;  // by node grid
  for (const Grid& node : node_grids) {
    const bool sums = cost.SumsOf(node);
    sums_of.push_back(sums);
    if (rows[sums] == nullptr) {
      FactorPairs pairs(definition, operand, sums, cost.NeedsReach(), tensor_grids, &numbers_);
      rows[sums] =
          std::make_unique<UseRows>(cost, std::move(pairs), tensors, definition.indices.size());
    }
    table.row_of.push_back(rows[sums]->NumberOf(node));
    key.push_back(2 * table.row_of.back() + sums);
  }
  for (const auto& each : rows) {
    if (each != nullptr) each->AppendKey(&key);
  }
  std::shared_ptr<const UseTable>& known = known_[{&tensor_grids, std::move(key)}];
  if (known != nullptr) return known;
  if (rows[false] != nullptr) rows[false]->Write(&table);
  const auto whole = static_cast<int>(table.rows.size());
  for (size_t n = 0; n < sums_of.size(); ++n) table.row_of[n] += sums_of[n] ? whole : 0;
  if (rows[true] != nullptr) rows[true]->Write(&table);
  return known = std::make_shared<const UseTable>(std::move(table));
}

}  // namespace yuba::search
