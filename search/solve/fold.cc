#include "search/solve/fold.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "search/solve/interaction.h"

namespace yuba::search {
namespace {

Cells Transposed(const Cells& cells, size_t rows, size_t columns) {
  std::vector<int64_t> result(cells->size());
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) result[c * rows + r] = (*cells)[r * columns + c];
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(result));
}

Cells Sum(const std::vector<Cells>& terms) {
  if (terms.size() == 1) return terms[0];
  std::vector<int64_t> sum(terms[0]->size(), 0);
  for (const Cells& term : terms) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*term)[i];
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(sum));
}

std::vector<int> FoldOrder(const PairwiseProblem& problem, int64_t cells) {
  std::vector<int> order;
  Interaction interaction(problem);
  while (interaction.remaining() > 0) {
    int64_t table = 0;
    int next = interaction.Cheapest(&table, 2);
    if (next < 0 || table > cells) break;
    interaction.Eliminate(next);
    order.push_back(next);
  }
  return order;
}

}  // namespace

bool FoldsWhole(const PairwiseProblem& problem, int64_t cells) {
  return FoldOrder(problem, cells).size() == problem.variables.size();
}

std::vector<Factor> OneOfEachScope(const PairwiseProblem& problem) {
  std::map<std::vector<int>, std::vector<Cells>> by_scope;
  std::map<std::tuple<Cells, int, int>, Cells> transposed;
  for (const Factor& factor : problem.factors) {
    std::vector<int> scope = factor.scope;
    Cells cells = factor.cells;
    if (scope.size() == 2 && scope[0] > scope[1]) {
      int rows = problem.variables[scope[0]]->size, columns = problem.variables[scope[1]]->size;
      Cells& turned = transposed[std::make_tuple(cells, rows, columns)];
      if (turned == nullptr) turned = Transposed(cells, rows, columns);
      cells = turned;
      std::swap(scope[0], scope[1]);
    }
    by_scope[scope].push_back(cells);
  }
  std::map<std::vector<Cells>, Cells> sums;
  std::vector<Factor> merged;
  for (auto& [scope, terms] : by_scope) {
    std::sort(terms.begin(), terms.end());
    Cells& sum = sums[terms];
    if (sum == nullptr) sum = Sum(terms);
    merged.push_back({scope, sum});
  }
  return merged;
}

absl::optional<Core> Fold(const PairwiseProblem& problem, int64_t cells, const Budget& budget) {
  Core core;
  core.order = FoldOrder(problem, cells);
  absl::optional<Remainder> rest = EliminateSome(problem, core.order, budget);
  if (!rest.has_value()) return absl::nullopt;
  core.problem.factors = OneOfEachScope(rest->problem);
  core.problem.variables = std::move(rest->problem.variables);
  core.variables = std::move(rest->variables);
  core.constant = rest->constant;
  core.extended = std::move(rest->extended);
  return core;
}

}  // namespace yuba::search
