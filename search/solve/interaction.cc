#include "search/solve/interaction.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace yuba::search {
namespace {

void InsertSorted(std::vector<int>* list, int value) {
  auto at = std::lower_bound(list->begin(), list->end(), value);
  if (at == list->end() || *at != value) list->insert(at, value);
}

}  // namespace

Interaction::Interaction(const PairwiseProblem& problem)
    : neighbours_(problem.variables.size()),
      table_(problem.variables.size(), 1),
      alive_(problem.variables.size(), true),
      remaining_(static_cast<int>(problem.variables.size())) {
  for (const DomainPtr& domain : problem.variables) sizes_.push_back(domain->size);
  for (const Factor& factor : problem.factors) {
    if (factor.scope.size() < 2) continue;
    InsertSorted(&neighbours_[factor.scope[0]], factor.scope[1]);
    InsertSorted(&neighbours_[factor.scope[1]], factor.scope[0]);
  }
  size_t places = 1;
  while (places < sizes_.size()) places *= 2;
  cheapest_.assign(2 * places, -1);
  for (size_t v = 0; v < sizes_.size(); ++v) Price(static_cast<int>(v));
}

bool Interaction::Before(int a, int b) const {
  if (a < 0 || b < 0) return b < 0;
  return table_[a] != table_[b] ? table_[a] < table_[b] : a < b;
}

void Interaction::PlayAgain(int variable) {
  size_t place = cheapest_.size() / 2 + variable;
  cheapest_[place] = alive_[variable] ? variable : -1;
  while (place /= 2) {
    const int a = cheapest_[2 * place], b = cheapest_[2 * place + 1];
    cheapest_[place] = Before(a, b) ? a : b;
  }
}

int Interaction::Cheapest(int64_t* table) const {
  const int best = cheapest_[1];
  *table = best < 0 ? 0 : table_[best];
  return best;
}

void Interaction::Eliminate(int variable) {
  const std::vector<int> scope = neighbours_[variable];
  Detach(variable);
  // In one pass over both lists: variables of one value are eliminated with hundreds of neighbours,
  // since their tables stay small.
  std::vector<int> both;
  for (const int a : scope) {
    std::vector<int>& list = neighbours_[a];
    both.clear();
    std::set_union(list.begin(), list.end(), scope.begin(), scope.end(), std::back_inserter(both));
    both.erase(std::lower_bound(both.begin(), both.end(), a));
    list.swap(both);
  }
  for (const int a : scope) Price(a);
}

void Interaction::Remove(int variable) {
  std::vector<int> scope = neighbours_[variable];
  Detach(variable);
  for (int a : scope) Price(a);
}

void Interaction::Detach(int variable) {
  for (int other : neighbours_[variable]) {
    std::vector<int>& list = neighbours_[other];
    list.erase(std::lower_bound(list.begin(), list.end(), variable));
  }
  neighbours_[variable].clear();
  alive_[variable] = false;
  --remaining_;
  PlayAgain(variable);
}

void Interaction::Price(int variable) {
  int64_t cells = 1;
  for (int other : neighbours_[variable]) {
    if (__builtin_mul_overflow(cells, sizes_[other], &cells)) {
      cells = std::numeric_limits<int64_t>::max();
      break;
    }
  }
  table_[variable] = cells;
  PlayAgain(variable);
}

}  // namespace yuba::search
