#include "search/solve/shrink.h"

#include <memory>
#include <utility>

namespace yuba::search {

PairwiseProblem Shrinking::Of(const std::vector<Values>& kept) {
  PairwiseProblem part;
  std::vector<const Values*> known;
  for (const Values& values : kept) {
    known.push_back(&*lists_.insert(values).first);
    DomainPtr& domain = domains_[values.size()];
    if (domain == nullptr) domain = PlainDomain(static_cast<int>(values.size()));
    part.variables.push_back(domain);
  }
  for (const Factor& factor : problem_.factors) {
    const Values *rows = known[factor.scope[0]], *columns = known[factor.scope.back()];
    Cells& cells = cells_[{factor.cells, rows, columns}];
    if (cells == nullptr) cells = CellsOf(factor, *rows, *columns);
    part.factors.push_back({factor.scope, cells});
  }
  return part;
}

Cells Shrinking::CellsOf(const Factor& factor, const Values& rows, const Values& columns) const {
  std::vector<int64_t> cells;
  if (factor.scope.size() == 1) {
    for (int row : rows) cells.push_back((*factor.cells)[row]);
  } else {
    const int64_t width = problem_.variables[factor.scope[1]]->size;
    for (int row : rows) {
      for (int column : columns) cells.push_back((*factor.cells)[row * width + column]);
    }
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

}  // namespace yuba::search
