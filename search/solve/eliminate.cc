#include "search/solve/eliminate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/check.h"
#include "search/solve/interaction.h"
#include "search/solve/min_sum.h"

namespace yuba::search {
namespace {

class Elimination {
 public:
  Elimination(const PairwiseProblem& problem, const std::vector<int>& order,
              const Assignment& given, const Budget& budget)
      : problem_(problem), order_(order), budget_(budget), terms_of_(problem.variables.size()) {
    solution_.assignment = given;
    free_.assign(problem.variables.size(), false);
    for (int v : order) free_[v] = true;
    domains_ = problem.variables;
    if (order.size() < problem.variables.size()) DropSymmetries();
    for (const Factor& factor : problem.factors) AddFactor(factor);
  }

  // For Rest: all variables stay free, those in `order` are eliminated.
  Elimination(const PairwiseProblem& problem, const std::vector<int>& order, const Budget& budget)
      : problem_(problem),
        order_(order),
        budget_(budget),
        free_(problem.variables.size(), true),
        domains_(problem.variables),
        terms_of_(problem.variables.size()) {
    for (const Factor& factor : problem.factors) AddFactor(factor);
  }

  absl::optional<Remainder> Rest() {
    if (!Steps()) return absl::nullopt;
    Remainder rest;
    rest.constant = solution_.cost;
    std::vector<int> number(problem_.variables.size(), 0);
    for (int v : order_) number[v] = -1;
    for (size_t v = 0; v < number.size(); ++v) {
      if (number[v] < 0) continue;
      number[v] = static_cast<int>(rest.variables.size());
      rest.variables.push_back(static_cast<int>(v));
      rest.problem.variables.push_back(problem_.variables[v]);
    }
    for (int v : rest.variables) {
      for (const Term& term : terms_of_[v]) {
        if (term.scope[0] != v) continue;
        Factor factor = {{}, tables_[term.table]};
        for (int u : term.scope) factor.scope.push_back(number[u]);
        rest.problem.factors.push_back(std::move(factor));
      }
    }
    return rest;
  }

  // The best values of the variables in `order`, after Rest.
  Assignment Extended(const std::vector<int>& variables, const Assignment& values) {
    solution_.assignment.assign(problem_.variables.size(), 0);
    for (size_t i = 0; i < variables.size(); ++i) solution_.assignment[variables[i]] = values[i];
    ChooseAll();
    return solution_.assignment;
  }

  absl::optional<Solution> Run() {
    if (!Steps()) return absl::nullopt;
    ChooseAll();
    return std::move(solution_);
  }

 private:
  // `table` is a number: equal tables have equal numbers, and equal work is done once.
  struct Term {
    std::vector<int> scope;
    int table = 0;
  };

  bool Steps() {
    for (int v : order_) {
      if (budget_.ShouldStop()) return false;
      Step(v);
      if (stopped_) return false;
    }
    return true;
  }

  // Fixed values are seldom symmetric, so the free variables lose their symmetries.
  void DropSymmetries() {
    std::map<DomainPtr, DomainPtr> plain;
    for (DomainPtr& domain : domains_) {
      DomainPtr& without = plain[domain];
      if (without == nullptr) {
        without = std::make_shared<const Domain>(Domain{domain->size, {domain->images[0]}});
      }
      domain = without;
    }
  }

  void AddFactor(const Factor& factor) {
    Term term;
    for (int v : factor.scope) {
      if (free_[v]) term.scope.push_back(v);
    }
    if (term.scope.empty()) {
      size_t cell = 0;
      for (int v : factor.scope) {
        cell = cell * problem_.variables[v]->size + solution_.assignment[v];
      }
      solution_.cost += (*factor.cells)[cell];
      return;
    }
    term.table =
        term.scope.size() == factor.scope.size() ? NumberOf(factor.cells) : NumberOfSlice(factor);
    AddTerm(term);
  }

  // Slices of one table at one value are one table.
  int NumberOfSlice(const Factor& factor) {
    const int side = free_[factor.scope[0]] ? 1 : 0;
    const auto [place, is_new] = slices_.emplace(
        std::make_tuple(factor.cells.get(), side, solution_.assignment[factor.scope[side]]), 0);
    if (is_new) place->second = NumberOf(Slice(factor));
    return place->second;
  }

  // The factor of two variables where the one that is not free has its value.
  Cells Slice(const Factor& factor) const {
    const int a = factor.scope[0], b = factor.scope[1];
    const int64_t columns = problem_.variables[b]->size;
    std::vector<int64_t> cells;
    if (free_[a]) {
      const int64_t rows = problem_.variables[a]->size;
      for (int64_t i = 0; i < rows; ++i) {
        cells.push_back((*factor.cells)[i * columns + solution_.assignment[b]]);
      }
    } else {
      const auto row = factor.cells->begin() + solution_.assignment[a] * columns;
      cells.assign(row, row + columns);
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(cells));
  }

  int NumberOf(const Cells& cells) {
    auto [place, is_new] = numbers_.emplace(cells.get(), static_cast<int>(tables_.size()));
    if (is_new) tables_.push_back(cells);
    return place->second;
  }

  void AddTerm(const Term& term) {
    if (stopped_) return;
    if (term.scope.empty()) {
      solution_.cost += (*tables_[term.table])[0];
      return;
    }
    for (int v : term.scope) terms_of_[v].push_back(term);
  }

  void Step(int v) {
    std::vector<Term> terms = std::move(terms_of_[v]);
    // An order that equal blocks of a problem have in common, so that done_ recognises them.
    std::stable_sort(terms.begin(), terms.end(), [v](const Term& a, const Term& b) {
      return a.table != b.table ? a.table < b.table : (a.scope[0] == v) < (b.scope[0] == v);
    });
    Term result;
    for (const Term& term : terms) {
      for (int u : term.scope) {
        bool known =
            u == v || std::find(result.scope.begin(), result.scope.end(), u) != result.scope.end();
        if (!known) result.scope.push_back(u);
      }
    }
    for (int u : result.scope) {
      std::vector<Term>& list = terms_of_[u];
      list.erase(std::remove_if(list.begin(), list.end(),
                                [v](const Term& term) {
                                  return std::find(term.scope.begin(), term.scope.end(), v) !=
                                         term.scope.end();
                                }),
                 list.end());
    }
    result.table = Minimise(v, terms, result.scope);
    steps_.push_back(std::move(terms));
    AddTerm(result);
  }

  int Minimise(int v, const std::vector<Term>& terms, const std::vector<int>& scope) {
    std::vector<DomainPtr> domains;
    std::vector<const void*> key;  // domains, then each term's table and scope
    for (int u : scope) domains.push_back(domains_[u]);
    domains.push_back(domains_[v]);
    for (const DomainPtr& domain : domains) key.push_back(domain.get());
    std::vector<MinSumTerm> list;
    for (const Term& term : terms) {
      MinSumTerm local;
      for (int u : term.scope) {
        auto place = std::find(scope.begin(), scope.end(), u) - scope.begin();
        local.scope.push_back(static_cast<int>(place));
        key.push_back(reinterpret_cast<const void*>(place + 1));
      }
      local.cells = tables_[term.table].get();
      key.push_back(local.cells);
      list.push_back(std::move(local));
    }
    auto [place, is_new] = done_.emplace(std::move(key), 0);
    if (is_new) {
      std::vector<int64_t> least = MinSum(domains, list, budget_);
      stopped_ = least.empty();
      place->second = NumberOf(std::make_shared<const std::vector<int64_t>>(std::move(least)));
    }
    return place->second;
  }

  void ChooseAll() {
    for (size_t step = order_.size(); step-- > 0;) Choose(order_[step], steps_[step]);
  }

  // Chooses the best value of v; all variables that were eliminated after it have theirs.
  void Choose(int v, const std::vector<Term>& terms) {
    int64_t best = std::numeric_limits<int64_t>::max();
    for (int value = 0; value < problem_.variables[v]->size; ++value) {
      int64_t cost = 0;
      for (const Term& term : terms) {
        size_t cell = 0;
        for (int u : term.scope) {
          cell = cell * problem_.variables[u]->size + (u == v ? value : solution_.assignment[u]);
        }
        cost += (*tables_[term.table])[cell];
      }
      if (cost < best) {
        best = cost;
        solution_.assignment[v] = value;
      }
    }
  }

  const PairwiseProblem& problem_;
  const std::vector<int> order_;
  const Budget& budget_;
  bool stopped_ = false;
  std::vector<bool> free_;
  std::vector<DomainPtr> domains_;
  std::vector<std::vector<Term>> terms_of_;  // by variable
  std::vector<std::vector<Term>> steps_;     // by step: the terms that its result replaced
  std::vector<Cells> tables_;
  absl::flat_hash_map<const std::vector<int64_t>*, int> numbers_;
  // Numbers of slices, by table, the side that is fixed, and its value.
  absl::flat_hash_map<std::tuple<const std::vector<int64_t>*, int, int>, int> slices_;
  absl::flat_hash_map<std::vector<const void*>, int> done_;
  Solution solution_;
};

}  // namespace

absl::optional<Remainder> EliminateSome(const PairwiseProblem& problem,
                                        const std::vector<int>& order, const Budget& budget) {
  const auto elimination = std::make_shared<Elimination>(problem, order, budget);
  absl::optional<Remainder> rest = elimination->Rest();
  if (rest.has_value()) {
    rest->extended = [elimination, variables = rest->variables](const Assignment& values) {
      return elimination->Extended(variables, values);
    };
  }
  return rest;
}

absl::optional<Order> GreedyOrder(const PairwiseProblem& problem, int64_t cells,
                                  const Budget& budget) {
  Interaction interaction(problem);
  Order order;
  int64_t all_cells = 0;
  while (interaction.remaining() > 0) {
    if (budget.ShouldStop()) return absl::nullopt;
    int64_t table = 0;
    int next = interaction.Cheapest(&table);
    if (table > cells) return absl::nullopt;
    const Domain& domain = *problem.variables[next];
    all_cells += table;
    order.sums += table * domain.size / static_cast<int64_t>(domain.images.size());
    if (all_cells > 4 * cells || order.sums > 256 * cells) return absl::nullopt;
    interaction.Eliminate(next);
    order.variables.push_back(next);
  }
  return order;
}

absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Assignment& given, const Budget& budget) {
  return Elimination(problem, order, given, budget).Run();
}

absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Budget& budget) {
  YUBA_CHECK(order.size() == problem.variables.size());
  return Eliminate(problem, order, Assignment(problem.variables.size(), 0), budget);
}

}  // namespace yuba::search
