#include "search/solve/relax.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace yuba::search {
namespace {

Cells LeastOfClasses(const Factor& factor, const std::vector<ClassesPtr>& classes) {
  const Classes& first = *classes[factor.scope[0]];
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  if (factor.scope.size() == 1) {
    std::vector<int64_t> least(first.count, kNone);
    for (size_t value = 0; value < first.of.size(); ++value) {
      int64_t& cell = least[first.of[value]];
      cell = std::min(cell, (*factor.cells)[value]);
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(least));
  }
  const Classes& second = *classes[factor.scope[1]];
  std::vector<int64_t> least(int64_t{first.count} * second.count, kNone);
  const int64_t* cost = factor.cells->data();
  for (int row : first.of) {
    for (int column : second.of) {
      int64_t& cell = least[row * second.count + column];
      cell = std::min(cell, *cost++);
    }
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(least));
}

}  // namespace

PairwiseProblem Relaxed(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes) {
  PairwiseProblem relaxed;
  std::map<int, DomainPtr> domains;  // by size
  for (const ClassesPtr& here : classes) {
    DomainPtr& domain = domains[here->count];
    if (domain == nullptr) domain = PlainDomain(here->count);
    relaxed.variables.push_back(domain);
  }
  std::map<std::pair<Cells, std::vector<ClassesPtr>>, Cells> known;
  for (const Factor& factor : problem.factors) {
    std::vector<ClassesPtr> key;
    for (int v : factor.scope) key.push_back(classes[v]);
    Cells& cells = known[{factor.cells, key}];
    if (cells == nullptr) cells = LeastOfClasses(factor, classes);
    relaxed.factors.push_back({factor.scope, cells});
  }
  return relaxed;
}

MemoryRows RelaxedRows(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes) {
  MemoryRows relaxed;
  relaxed.limit = problem.memory.limit;
  relaxed.scale = problem.memory.scale;
  std::map<std::pair<Cells, ClassesPtr>, Cells> known;
  const auto least_of = [&](const Cells& usage, int variable) {
    const ClassesPtr& here = classes[variable];
    Cells& cells = known[{usage, here}];
    if (cells == nullptr) {
      std::vector<int64_t> least(here->count, std::numeric_limits<int64_t>::max());
      for (size_t value = 0; value < here->of.size(); ++value) {
        int64_t& cell = least[here->of[value]];
        cell = std::min(cell, (*usage)[value]);
      }
      cells = std::make_shared<const std::vector<int64_t>>(std::move(least));
    }
    return cells;
  };
  for (const MemoryUse& use : problem.memory.uses) {
    relaxed.uses.push_back({use.variable, use.begin, use.end, least_of(use.usage, use.variable)});
  }
  for (const MemoryBuffer& buffer : problem.memory.buffers) {
    const std::vector<int>& scope = problem.factors[buffer.factor].scope;
    relaxed.buffers.push_back(buffer);
    relaxed.buffers.back().usage = least_of(buffer.usage, buffer.first ? scope[0] : scope.back());
  }
  return relaxed;
}

}  // namespace yuba::search
