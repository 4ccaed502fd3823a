#include "search/solve/pruned_elimination.h"

#include <algorithm>
#include <utility>

namespace yuba::search {

PrunedElimination::PrunedElimination(const PairwiseProblem& problem,
                                     const std::vector<ClassesPtr>& classes, const BucketTree& tree)
    : problem_(problem), tree_(tree) {
  std::map<std::pair<DomainPtr, ClassesPtr>, MembersPtr> known;
  for (size_t v = 0; v < problem.variables.size(); ++v) {
    MembersPtr& members = known[{problem.variables[v], classes[v]}];
    if (members == nullptr) {
      members = std::make_shared<const Members>(*problem.variables[v], *classes[v]);
    }
    members_.push_back(members);
  }
}

PrunedSolution PrunedElimination::Run(int64_t limit, int64_t most_cells, int64_t* work,
                                      const Budget& budget) {
  PrunedSolution pruned;
  results_.assign(tree_.buckets.size(), {});
  tables_.assign(tree_.buckets.size(), {});
  int64_t cells = 0;
  for (size_t b = 0; b < tree_.buckets.size(); ++b) {
    if (budget.ShouldStop()) return pruned;
    const Bucket& bucket = tree_.buckets[b];
    const std::vector<int> joint = JointScope(bucket);
    JoinInput input;
    for (int v : joint) input.joint.push_back(members_[v]);
    input.tables = tables_[b] = TablesOf(joint, bucket);
    input.up = bucket.up.get();
    input.down = bucket.down.get();
    input.limit = limit;
    input.most_cells = most_cells - cells;
    input.budget = &budget;
    results_[b] = Join(input, work);
    cells += static_cast<int64_t>(results_[b].cells.size());
    if (*work < 0) return pruned;
    if (results_[b].cells.empty()) {
      pruned.finished = true;
      return pruned;
    }
    if (bucket.scope.empty()) pruned.solution.cost += results_[b].least[0];
  }
  pruned.finished = true;
  pruned.found = pruned.solution.cost <= limit;
  if (!pruned.found) return pruned;
  pruned.solution.assignment.assign(problem_.variables.size(), 0);
  ChooseValues(
      problem_, tree_,
      [this](size_t b, const Assignment& assignment) { return CostIn(b, assignment); },
      &pruned.solution.assignment, kTooDear);
  return pruned;
}

TableAt PrunedElimination::FactorTable(const std::vector<int>& joint, const Factor& factor) {
  TableAt met;
  std::vector<int> scope;
  for (size_t place = 0; place < joint.size(); ++place) {
    if (std::count(factor.scope.begin(), factor.scope.end(), joint[place]) == 0) continue;
    met.places.push_back(static_cast<int>(place));
    scope.push_back(joint[place]);
  }
  auto [found, is_new] =
      factor_tables_.emplace(std::make_tuple(factor.cells, members_[scope[0]],
                                             members_[scope.back()], scope == factor.scope),
                             PrunedTable{});
  if (is_new) found->second = Labelled(factor, scope, members_);
  met.table = &found->second;
  return met;
}

std::vector<TableAt> PrunedElimination::TablesOf(const std::vector<int>& joint,
                                                 const Bucket& bucket) {
  std::vector<TableAt> tables;
  for (int f : bucket.factors) tables.push_back(FactorTable(joint, problem_.factors[f]));
  for (int child : bucket.children) {
    TableAt met;
    met.table = &results_[child];
    for (int v : tree_.buckets[child].scope) {
      met.places.push_back(
          static_cast<int>(std::find(joint.begin(), joint.end(), v) - joint.begin()));
    }
    tables.push_back(std::move(met));
  }
  return tables;
}

int64_t PrunedElimination::CostIn(size_t b, const Assignment& assignment) const {
  const std::vector<int> joint = JointScope(tree_.buckets[b]);
  int64_t cost = 0;
  for (const TableAt& met : tables_[b]) {
    int64_t at = 0, within = 0;
    for (int place : met.places) {
      const int v = joint[place];
      const Members& members = *members_[v];
      int here = members.of[assignment[v]];
      at = at * static_cast<int64_t>(members.values.size()) + here;
      within =
          within * static_cast<int64_t>(members.values[here].size()) + members.label[assignment[v]];
    }
    int64_t begin = met.table->place[at];
    cost += begin < 0 ? kTooDear : met.table->cells[begin + within];
  }
  return cost;
}

}  // namespace yuba::search
