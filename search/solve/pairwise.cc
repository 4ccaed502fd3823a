#include "search/solve/pairwise.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "search/solve/timeline.h"

namespace yuba::search {

DomainPtr PlainDomain(int size) {
  std::vector<int> identity(size);
  std::iota(identity.begin(), identity.end(), 0);
  return std::make_shared<const Domain>(Domain{size, {std::move(identity)}});
}

std::vector<int> OrbitRepresentatives(const Domain& domain) {
  std::vector<bool> reached(domain.size, false);
  std::vector<int> representatives;
  for (int value = 0; value < domain.size; ++value) {
    if (reached[value]) continue;
    representatives.push_back(value);
    for (const std::vector<int>& image : domain.images) reached[image[value]] = true;
  }
  return representatives;
}

int64_t CellOf(const Factor& factor, int64_t row, int64_t column, int64_t width) {
  const std::vector<int64_t>& cells = *factor.cells;
  if (factor.sum == nullptr) return cells[row * width + column];
  int64_t cost = 0;
  for (const ClassTable& table : *factor.sum) {
    cost += cells[table.begin + table.row_of[row] * table.columns + table.column_of[column]];
  }
  return cost;
}

PairwiseProblem Whole(const PairwiseProblem& problem) {
  PairwiseProblem whole = problem;
  std::map<Cells, Cells> known;
  for (Factor& factor : whole.factors) {
    if (factor.sum == nullptr) continue;
    Cells& cells = known[factor.cells];
    if (cells == nullptr) {
      const auto rows = static_cast<int64_t>((*factor.sum)[0].row_of.size());
      const auto columns = static_cast<int64_t>((*factor.sum)[0].column_of.size());
      std::vector<int64_t> all;
      all.reserve(rows * columns);
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
          all.push_back(CellOf(factor, row, column, columns));
        }
      }
      cells = std::make_shared<const std::vector<int64_t>>(std::move(all));
    }
    factor = {factor.scope, cells, nullptr};
  }
  return whole;
}

int64_t WholeCellsOf(const PairwiseProblem& problem) {
  int64_t cells = 0;
  for (const Factor& factor : problem.factors) {
    int64_t of_factor = 1;
    for (const int v : factor.scope) of_factor *= problem.variables[v]->size;
    cells += of_factor;
  }
  return cells;
}

int64_t CostOf(const PairwiseProblem& problem, const Assignment& assignment) {
  int64_t cost = 0;
  for (const Factor& factor : problem.factors) {
    cost = std::min(kForbidden, cost + CostOf(problem, factor, assignment));
  }
  return cost;
}

int64_t CostOf(const PairwiseProblem& problem, const Factor& factor, const Assignment& assignment) {
  if (factor.sum != nullptr) {
    return CellOf(factor, assignment[factor.scope[0]], assignment[factor.scope[1]], 0);
  }
  size_t cell = 0;
  for (int v : factor.scope) cell = cell * problem.variables[v]->size + assignment[v];
  return (*factor.cells)[cell];
}

int64_t BytesOf(const PairwiseProblem& problem, const MemoryBuffer& buffer,
                const Assignment& assignment) {
  const Factor& factor = problem.factors[buffer.factor];
  if (!IsMoved(CostOf(problem, factor, assignment))) return 0;
  return (*buffer.usage)[assignment[buffer.first ? factor.scope[0] : factor.scope.back()]];
}

namespace {

struct Use {
  int64_t begin, end, bytes;
};

// The most bytes in use at any time, and the first such time to *time, if that is not null. Between
// two beginnings nothing is added, so these are the times to look at.
int64_t Peak(const std::vector<Use>& uses, int64_t* time) {
  std::vector<int64_t> begins;
  for (const Use& use : uses) begins.push_back(use.begin);
  const Timeline timeline(std::move(begins));
  std::vector<int64_t> change(timeline.rows() + 1, 0);
  for (const Use& use : uses) {
    change[timeline.RowAt(use.begin)] += use.bytes;
    change[timeline.RowAt(use.end)] -= use.bytes;
  }
  int64_t peak = 0, load = 0;
  for (int row = 0; row < timeline.rows(); ++row) {
    load += change[row];
    if (load <= peak) continue;
    peak = load;
    if (time != nullptr) *time = timeline.time(row);
  }
  return peak;
}

std::vector<Use> UnmovedUses(const PairwiseProblem& problem, const Assignment& assignment) {
  std::vector<Use> uses;
  for (const MemoryUse& use : problem.memory.uses) {
    if (use.begin >= use.end) continue;
    uses.push_back({use.begin, use.end, (*use.usage)[assignment[use.variable]]});
  }
  return uses;
}

}  // namespace

int64_t PeakOf(const PairwiseProblem& problem, const Assignment& assignment, int64_t* time) {
  std::vector<Use> uses = UnmovedUses(problem, assignment);
  for (const MemoryBuffer& buffer : problem.memory.buffers) {
    if (buffer.begin >= buffer.end) continue;
    uses.push_back({buffer.begin, buffer.end, BytesOf(problem, buffer, assignment)});
  }
  return Peak(uses, time);
}

int64_t UnmovedPeakOf(const PairwiseProblem& problem, const Assignment& assignment, int64_t* time) {
  return Peak(UnmovedUses(problem, assignment), time);
}

}  // namespace yuba::search
