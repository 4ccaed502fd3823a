// One round of the search by blocks: a split problem (split.h), whose copies of one variable pay
// each other prices, and the bound at these prices.
#ifndef YUBA_SEARCH_SPLIT_PROBLEM_H_
#define YUBA_SEARCH_SPLIT_PROBLEM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/block_round.h"
#include "search/budget.h"
#include "search/eliminate.h"
#include "search/split.h"

namespace yuba {

class SplitProblem {
 public:
  // `part` has at most one factor of each pair, and of each variable. No step of the elimination
  // takes more than `sums` sums or a little more, all together not more than `most` if that can be.
  SplitProblem(const PairwiseProblem& part, int64_t sums, int64_t most);

  // Prices at which the bound is that of the pairwise dual, or better: of a variable's costs each
  // factor has what it explains and an equal share of the rest.
  void Start(int sweeps, const Budget& budget);

  // Raises the bound to `limit` if it can.
  void Raise(int64_t limit, int steps, int64_t* work, const Budget& budget);

  bool raised() const { return !costs_.empty(); }
  int64_t bound() const { return bound_; }
  int64_t sums() const { return splitting_.sums; }

  // The least cost of each value of a variable, once raised.
  std::vector<int64_t> CostsOf(int variable) const;

  // What the first copies have in the cheapest assignment.
  absl::optional<Assignment> Decode(const Budget& budget);

  BlockRound Proof(int64_t limit) const;

 private:
  using Ends = std::vector<std::pair<int, int>>;  // of a variable: (factor, side)

  std::vector<Ends> EndsOfVariables() const;
  PairwiseProblem Unsplit(const std::vector<Ends>& ends) const;
  int CopyAt(const std::pair<int, int>& end) const {
    return splitting_.scopes[end.first][end.second];
  }
  void AddOwn(int side, Factor* factor) const;
  // Makes the factors of one copy: prices, and what its variable costs by itself.
  void Price();
  void Pay(int from, int to, size_t value, int64_t amount);
  // Copies pay each other towards equal costs of each value.
  void Move(double step, int64_t limit);

  Splitting splitting_;
  std::vector<std::vector<int>> copies_;  // by variable
  std::vector<Cells> own_;                // by variable: what it costs by itself, or none
  std::vector<std::vector<int>> pairs_;   // by factor: the variables
  PairwiseProblem problem_;
  size_t unpriced_ = 0;
  std::vector<std::vector<int64_t>> prices_;  // by copy and value
  int64_t bound_ = 0;
  std::vector<std::vector<int64_t>> costs_;  // by copy and value, at the best prices
};

}  // namespace yuba

#endif  // YUBA_SEARCH_SPLIT_PROBLEM_H_
