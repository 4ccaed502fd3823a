#include "search/split.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace yuba {
namespace {

class Splitter {
 public:
  Splitter(const PairwiseProblem& problem, int64_t sums) : problem_(problem), most_(sums) {
    for (size_t v = 0; v < problem.variables.size(); ++v) AddCopy(static_cast<int>(v));
    for (size_t f = 0; f < problem.factors.size(); ++f) {
      result_.scopes.push_back(problem.factors[f].scope);
      Term term;
      term.scope = problem.factors[f].scope;
      term.factors = {static_cast<int>(f)};
      std::sort(term.scope.begin(), term.scope.end());
      most_ = std::max(most_, Sums(term.scope));
      AddTerm(std::move(term));
    }
  }

  Splitting Run() {
    for (size_t left = result_.variable.size(); left > 0; --left) {
      const int next = Cheapest();
      if (sums_[next] <= most_) {
        Eliminate(next);
        continue;
      }
      const std::vector<std::vector<int>> groups = Groups(terms_of_[next]);
      std::vector<int> copies = {next};
      for (size_t g = 1; g < groups.size(); ++g) copies.push_back(SplitOff(next, groups[g]));
      for (int copy : copies) Eliminate(copy);
    }
    return std::move(result_);
  }

 private:
  // A factor, or what an elimination leaves of several.
  struct Term {
    std::vector<int> scope;  // sorted
    std::vector<int> factors;
  };

  int AddCopy(int variable) {
    result_.variable.push_back(variable);
    terms_of_.emplace_back();
    sums_.push_back(SizeOf(variable));
    gone_.push_back(false);
    return static_cast<int>(result_.variable.size()) - 1;
  }

  void AddTerm(Term term) {
    const int number = static_cast<int>(terms_.size());
    for (int copy : term.scope) terms_of_[copy].push_back(number);
    terms_.push_back(std::move(term));
    for (int copy : terms_.back().scope) sums_[copy] = Sums(Joint(terms_of_[copy]));
  }

  int64_t SizeOf(int variable) const { return problem_.variables[variable]->size; }

  int64_t Sums(const std::vector<int>& scope) const {
    int64_t sums = 1;
    for (int copy : scope) {
      if (__builtin_mul_overflow(sums, SizeOf(result_.variable[copy]), &sums)) {
        return std::numeric_limits<int64_t>::max();
      }
    }
    return sums;
  }

  static std::vector<int> Union(const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<int> both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }

  std::vector<int> Joint(const std::vector<int>& terms) const {
    std::vector<int> joint;
    for (int term : terms) joint = Union(joint, terms_[term].scope);
    return joint;
  }

  int Cheapest() const {
    int best = -1;
    for (int copy = 0; copy < static_cast<int>(sums_.size()); ++copy) {
      if (!gone_[copy] && (best < 0 || sums_[copy] < sums_[best])) best = copy;
    }
    return best;
  }

  // Terms that fit together: the widest first, each where it adds least.
  std::vector<std::vector<int>> Groups(std::vector<int> terms) const {
    std::stable_sort(terms.begin(), terms.end(), [this](int a, int b) {
      return terms_[a].scope.size() > terms_[b].scope.size();
    });
    std::vector<std::vector<int>> groups, joints;
    for (int term : terms) {
      int best = -1;
      double least = std::numeric_limits<double>::infinity();
      for (size_t g = 0; g < groups.size(); ++g) {
        const int64_t sums = Sums(Union(joints[g], terms_[term].scope));
        const double growth = static_cast<double>(sums) / static_cast<double>(Sums(joints[g]));
        if (sums > most_ || growth >= least) continue;
        best = static_cast<int>(g);
        least = growth;
      }
      if (best < 0) {
        best = static_cast<int>(groups.size());
        groups.emplace_back();
        joints.emplace_back();
      }
      groups[best].push_back(term);
      joints[best] = Union(joints[best], terms_[term].scope);
    }
    return groups;
  }

  // A new copy of a variable, to which these of its terms go over.
  int SplitOff(int from, const std::vector<int>& terms) {
    const int copy = AddCopy(result_.variable[from]);
    for (int t : terms) {
      Term& term = terms_[t];
      term.scope.erase(std::find(term.scope.begin(), term.scope.end(), from));
      term.scope.push_back(copy);  // the greatest number so far
      for (int factor : term.factors) {
        std::vector<int>& scope = result_.scopes[factor];
        std::replace(scope.begin(), scope.end(), from, copy);
      }
      std::vector<int>& others = terms_of_[from];
      others.erase(std::find(others.begin(), others.end(), t));
    }
    terms_of_[copy] = terms;
    return copy;
  }

  void Eliminate(int copy) {
    Term left;
    left.scope = Joint(terms_of_[copy]);
    result_.sums += Sums(left.scope);
    left.scope.erase(std::remove(left.scope.begin(), left.scope.end(), copy), left.scope.end());
    for (int t : terms_of_[copy]) {
      left.factors.insert(left.factors.end(), terms_[t].factors.begin(), terms_[t].factors.end());
      for (int other : terms_[t].scope) {
        std::vector<int>& terms = terms_of_[other];
        if (other != copy) terms.erase(std::find(terms.begin(), terms.end(), t));
      }
    }
    gone_[copy] = true;
    result_.order.push_back(copy);
    if (!left.scope.empty()) AddTerm(std::move(left));
  }

  const PairwiseProblem& problem_;
  int64_t most_;
  Splitting result_;
  std::vector<Term> terms_;
  std::vector<std::vector<int>> terms_of_;  // by copy
  std::vector<int64_t> sums_;               // by copy: what its elimination takes
  std::vector<bool> gone_;                  // by copy
};

}  // namespace

Splitting SplitToFit(const PairwiseProblem& problem, int64_t sums) {
  return Splitter(problem, sums).Run();
}

}  // namespace yuba
