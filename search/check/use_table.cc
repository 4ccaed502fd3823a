#include "search/check/use_table.h"

#include "search/check/use_cost.h"
#include "search/check/use_rows.h"

namespace yuba::search {

UseTables::UseTables(const Mesh& mesh, const Objective& objective)
    : mesh_(mesh), objective_(objective) {}

std::shared_ptr<const UseTable> UseTables::Of(const Definition& definition, int operand,
                                              int64_t times, const std::vector<Grid>& node_grids,
                                              const std::vector<Grid>& tensor_grids) {
  const Use use = {definition, operand, times, node_grids, tensor_grids};
  if (!IsSumOfTerms(objective_, mesh_.kinds(), definition, operand,
                    static_cast<int64_t>(tensor_grids.size()),
                    static_cast<int64_t>(node_grids.size()))) {
    return OfTerm(use, LinkTerm::kAll, nullptr);
  }
  // A gather: near rows are few, since of nodes only parts count; far places are few, since of
  // tensors only outer parts do. A reduction: the other way round.
  const bool reads = operand >= 0;
  std::shared_ptr<const UseTable> few_places =
      OfTerm(use, reads ? LinkTerm::kFar : LinkTerm::kNear, nullptr);
  return OfTerm(use, reads ? LinkTerm::kNear : LinkTerm::kFar, std::move(few_places));
}

// The term of few places stays in one arrangement, so that AddLeast goes over its places once for
// all node grids.
std::shared_ptr<const UseTable> UseTables::OfTerm(const Use& use, LinkTerm term,
                                                  std::shared_ptr<const UseTable> other_term) {
  const bool arranged = term == LinkTerm::kAll || other_term != nullptr;
  const UseCost cost(mesh_, objective_, use.definition, use.operand, use.times, term);
  const TensorSides tensors(mesh_, use.tensor_grids);
  std::unique_ptr<UseRows> rows[2];  // [whether the node writes partials to be added up]
  UseTable table;
  std::vector<int64_t> key = cost.Key();
  std::vector<bool> sums_of;  // by node grid
  for (const Grid& node : use.node_grids) {
    const bool sums = cost.SumsOf(node);
    sums_of.push_back(sums);
    if (rows[sums] == nullptr) {
      FactorPairs pairs(use.definition, use.operand, sums, cost.NeedsReach(), term,
                        use.tensor_grids, &numbers_);
      rows[sums] = std::make_unique<UseRows>(cost, std::move(pairs), tensors,
                                             use.definition.indices.size(), arranged);
    }
    table.row_of.push_back(rows[sums]->NumberOf(node));
    key.push_back(2 * table.row_of.back() + sums);
  }
  for (const auto& each : rows) {
    if (each != nullptr) each->AppendKey(&key);
  }
  std::shared_ptr<const UseTable>& known =
      known_[{&use.tensor_grids, other_term.get(), std::move(key)}];
  if (known != nullptr) return known;
  if (rows[false] != nullptr) rows[false]->Write(&table);
  const auto whole = static_cast<int>(table.rows.size());
  for (size_t n = 0; n < sums_of.size(); ++n) table.row_of[n] += sums_of[n] ? whole : 0;
  if (rows[true] != nullptr) rows[true]->Write(&table);
  table.other_term = std::move(other_term);
  return known = std::make_shared<const UseTable>(std::move(table));
}

}  // namespace yuba::search
