// The sweeps behind dual.h: message passing over a problem's factors of two variables until the
// bound stops rising.
#ifndef YUBA_SEARCH_SOLVE_DUAL_ASCENT_H_
#define YUBA_SEARCH_SOLVE_DUAL_ASCENT_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/dual.h"
#include "search/solve/message_passing.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

class DualAscent {
 public:
  // All arguments must outlive this. Costs of two variables above `most` count as that.
  // Without `sweeps` it only evaluates the messages that Run is given.
  DualAscent(const PairwiseProblem& problem, const std::vector<int>& order, const Budget& budget,
             int64_t most = kForbidden, bool sweeps = true);

  // The two functions of dual.h.
  Dual Run(const DualOptions& options);
  Assignment Preferred(int sweeps);

 private:
  using Passing = MessagePassing<float>;
  using Edge = Passing::Edge;
  using End = Passing::End;

  // dual.cc
  // The messages to first variables as integers, by edge, as Dual::messages has them. After a
  // backward pass an edge has its share of the belief of its later variable.
  std::vector<std::vector<int64_t>> Balanced() const;
  int64_t BoundOf(const std::vector<std::vector<int64_t>>& messages) const;
  // By value of the second variable: the least of factor less message.
  std::vector<int64_t> Star(int edge, const std::vector<int64_t>& message) const;
  // By variable: its value, then those of least belief, at most `most` in all.
  std::vector<std::vector<int>> Likely(const Assignment& assignment, size_t most) const;

  // dual_ascent.cc
  // At most so many sweeps, fewer where four in a row brought nothing; returns the bound that was
  // reached.
  double Sweep(int sweeps, double enough = std::numeric_limits<double>::infinity());
  // By factor of the problem, as MessageState has them.
  void Begin(const MessageState& start);
  MessageState State() const;

  const PairwiseProblem& problem_;
  const std::vector<int>& order_;
  const Budget& budget_;
  const int64_t most_;
  std::vector<std::vector<int64_t>> own_;  // by variable and value: its own cost
  std::vector<int> factor_of_;             // by edge
  int64_t cells_ = 0;                      // of all edges, shared ones counted each time
  Passing passing_;
  bool stopped_ = false;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_DUAL_ASCENT_H_
