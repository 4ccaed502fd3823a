// The sweeps behind dual.h: message passing over a problem's factors of two variables until the
// bound stops rising. Where cells are many, most sweeps go over the likeliest values alone.
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
  DualAscent(const PairwiseProblem& problem, const std::vector<int>& order, const Budget& budget,
             int64_t most = kForbidden);

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
  // Adds to *sum the least of factor less message, by value of the second variable.
  void AddStar(int edge, const std::vector<int64_t>& message, std::vector<int64_t>* sum) const;
  // By variable: its value, then those of least belief, at most `most` in all.
  std::vector<std::vector<int>> Likely(const Assignment& assignment, size_t most) const;

  // dual_ascent.cc
  // At most so many sweeps, fewer where four in a row brought nothing; returns the bound that was
  // reached.
  double Sweep(int sweeps, double enough = std::numeric_limits<double>::infinity());
  // As Sweep, where cells are many. After some sweeps over all values, a problem of the likeliest
  // ones alone is swept, in rounds; after each round one sweep to all values says which others
  // join. At last the others get messages at which hardly any of them is better than the likeliest,
  // and all are swept.
  void SweepLikely(const DualOptions& options);
  // A round: sweeps of the problem that has these values alone. In the last one, or where the bound
  // is enough, lifts its messages to all values and returns false.
  bool Round(const Passing::Values& active, bool last, const DualOptions& options);
  // Adds the values of least belief to the active ones, which ascend.
  void Activate(const DualOptions& options, Passing::Values* active) const;
  // Calls put(edge, place among the active values, value) for all messages to that side.
  template <typename Put>
  void Exchange(const Passing::Values& active, int side, const Put& put) const;
  // Makes messages for all values of those for the active values of first variables. What a value
  // of a second variable costs above its variable's least is given to inactive values of its
  // neighbours; what these then have too much or too little in all is shared out between their
  // ends.
  void Lift(const Passing::Values& active, const std::vector<std::vector<int64_t>>& messages);
  // Of second variable v: the messages to inactive values of first variables.
  void LiftInto(int v, const Passing::Values& active);
  // Of first variable v: shares out what its inactive values have too much or too little.
  void ShareOut(int v, const std::vector<int>& active);
  // The message to a second variable, where the values of the first one have no belief left.
  void Receive(const End& end);

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
