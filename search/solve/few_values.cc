#include "search/solve/few_values.h"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace yuba::search {
namespace {

std::vector<int64_t> CellsOfValues(const Factor& factor, const std::vector<int>& rows,
                                   const std::vector<int>& columns, int64_t width) {
  std::vector<int64_t> few;
  few.reserve(rows.size() * columns.size());
  for (const int row : rows) {
    for (const int column : columns) few.push_back(CellOf(factor, row, column, width));
  }
  return few;
}

Cells OfValues(const Cells& usage, const std::vector<int>& values) {
  std::vector<int64_t> few;
  for (const int value : values) few.push_back((*usage)[value]);
  return std::make_shared<const std::vector<int64_t>>(std::move(few));
}

MemoryRows RowsOfValues(const PairwiseProblem& problem,
                        const std::vector<std::vector<int>>& values) {
  MemoryRows rows = problem.memory;
  for (MemoryUse& use : rows.uses) use.usage = OfValues(use.usage, values[use.variable]);
  for (MemoryBuffer& buffer : rows.buffers) {
    const std::vector<int>& scope = problem.factors[buffer.factor].scope;
    buffer.usage = OfValues(buffer.usage, values[buffer.first ? scope.front() : scope.back()]);
  }
  return rows;
}

}  // namespace

PairwiseProblem OfFewValues(const PairwiseProblem& problem,
                            const std::vector<std::vector<int>>& values) {
  PairwiseProblem few;
  std::map<std::vector<int>, int> numbers;  // of equal lists
  std::vector<int> list_of;                 // [variable]
  for (const std::vector<int>& of_variable : values) {
    list_of.push_back(numbers.emplace(of_variable, static_cast<int>(numbers.size())).first->second);
    few.variables.push_back(PlainDomain(static_cast<int>(of_variable.size())));
  }
  const std::vector<int> only = {0};
  std::map<std::tuple<Cells, int, int>, Cells> known;  // by the lists of both variables
  for (const Factor& factor : problem.factors) {
    const int first = factor.scope[0];
    const bool of_two = factor.scope.size() == 2;
    const int last = factor.scope.back();
    Cells& cells = known[{factor.cells, list_of[first], of_two ? list_of[last] : -1}];
    if (cells == nullptr) {
      cells = std::make_shared<const std::vector<int64_t>>(
          CellsOfValues(factor, values[first], of_two ? values[last] : only,
                        of_two ? problem.variables[last]->size : 1));
    }
    few.factors.push_back({factor.scope, cells, nullptr});
  }
  few.memory = RowsOfValues(problem, values);
  return few;
}

int64_t CellsOf(const PairwiseProblem& problem) {
  int64_t cells = 0;
  for (const Factor& factor : problem.factors) {
    cells += static_cast<int64_t>(factor.cells->size());
  }
  return cells;
}

}  // namespace yuba::search
