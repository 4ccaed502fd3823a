#include "search/shrink.h"

#include <memory>
#include <numeric>
#include <utility>

namespace yuba {

PairwiseProblem Shrinking::Of(const std::vector<Values>& kept) {
  PairwiseProblem part;
  std::vector<const Values*> known;
  for (const Values& values : kept) {
    known.push_back(&*lists_.insert(values).first);
    part.variables.push_back(PlainDomain(static_cast<int>(values.size())));
  }
  for (const Factor& factor : problem_.factors) {
    const Values *rows = known[factor.scope[0]], *columns = known[factor.scope.back()];
    Cells& cells = cells_[{factor.cells, rows, columns}];
    if (cells == nullptr) cells = CellsOf(factor, *rows, *columns);
    part.factors.push_back({factor.scope, cells});
  }
  return part;
}

DomainPtr Shrinking::PlainDomain(int size) {
  DomainPtr& domain = domains_[size];
  if (domain == nullptr) {
    Domain plain{size, {std::vector<int>(size)}};
    std::iota(plain.images[0].begin(), plain.images[0].end(), 0);
    domain = std::make_shared<const Domain>(std::move(plain));
  }
  return domain;
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

}  // namespace yuba
