// The passes of the dual (dual.h): messages between the variables of a pairwise problem, and over
// the likeliest values alone where values are many.
#ifndef YUBA_SEARCH_SOLVE_MESSAGE_PASSING_H_
#define YUBA_SEARCH_SOLVE_MESSAGE_PASSING_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/dual.h"
#include "search/solve/min_plus.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// Over all values, before and after those over the likeliest.
inline constexpr int kFirstSweeps = 4, kLastSweeps = 28;

class MessagePassing {
 public:
  MessagePassing(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                 const std::vector<int>& order, const Budget& budget, int64_t most = kForbidden);

  Assignment Preferred(int sweeps);
  Dual Run(int sweeps, double enough, int64_t many_cells);

 private:
  // One end of a factor: `side` is the place of the variable in its scope.
  struct End {
    int factor, side, other;
  };

  // By variable the values that are, or were, among the likeliest; ascending.
  using Active = std::vector<std::vector<int>>;

  // message_passing.cc
  // Keeps the places of the other factors.
  void AddOwn(const Factor& factor);
  // The bound that was reached.
  double Sweep(int sweeps, double enough = std::numeric_limits<double>::infinity());
  // The least of each pair of classes.
  std::shared_ptr<const MinPlus> CostsOf(const Factor& factor);
  // What v costs alone, and the sum of the messages into it.
  void Belief(int v, std::vector<double>* belief) const;
  // Updates all messages in one direction; the bound is that of a backward pass.
  double Pass(bool forward);
  bool Ahead(int v, int other, bool forward) const;
  static void KeepActive(const std::vector<int>& active, std::vector<double>* source);
  // The message to the other end, its least value taken out and returned.
  double Send(const End& end, const std::vector<double>& source);
  // The share of its belief that a variable gives to each end in a pass.
  double ShareOf(int v) const;

  // sweep_likely.cc
  bool Single() const;
  // As Sweep, where values are many and each is its class: after some sweeps a problem of the
  // likeliest values is swept, then what its messages say to all others, of whom some join. At last
  // the others get messages under which hardly any is better, and all are swept.
  void SweepLikely(double enough);
  // Adds the likeliest values.
  void Activate(Active* active) const;
  // put(factor, place among the active values, value), of the messages to one side.
  template <typename Put>
  void Exchange(const Active& active, int side, const Put& put) const;
  // Messages to all from those to the active first variables: second variables are as they are with
  // these, and what each of their values costs above the least may be taken by other values of
  // their neighbours; what these take too much or too little is shared out between their ends.
  void Lift(const Active& active, const std::vector<std::vector<int64_t>>& messages);
  // Of a second variable: the messages to first ones that are not active.
  void LiftInto(int v, const Active& active);
  // Of a first variable: what its values that are not active have or lack in all.
  void ShareOut(int v, const std::vector<char>& active);
  // The message to a second variable, where first ones have no costs left.
  void Receive(const End& end);

  // dual.cc
  // The best value of each variable, given those before it and the messages from those after it.
  Assignment Decode() const;
  // The values of least belief.
  std::vector<std::vector<int>> Likely(const Assignment& assignment) const;
  // The messages to first variables as integers: nothing of their own costs is left to them, unless
  // that makes a message too large. After a backward pass a factor has its share of the belief of
  // its later variable.
  std::vector<std::vector<int64_t>> Balanced() const;
  int64_t BoundOf(const std::vector<std::vector<int64_t>>& messages) const;
  void AddStar(const Factor& factor, const std::vector<int64_t>& message,
               std::vector<int64_t>* sum) const;

  const PairwiseProblem& problem_;
  const std::vector<ClassesPtr>& classes_;
  const std::vector<int>& order_;
  const Budget& budget_;
  const int64_t most_;
  bool stopped_ = false;
  int64_t cells_ = 0;                      // of all factors, each with a copy of its own
  const Active* active_ = nullptr;         // those that send messages; all where there is none
  std::vector<int> place_;                 // by variable: its place in the order
  std::vector<std::vector<int64_t>> own_;  // by variable and class: its own cost
  std::vector<std::vector<End>> ends_;     // by variable
  std::vector<std::shared_ptr<const MinPlus>> costs_;  // by factor
  // By factor, for each class of the variable at that end: the messages to it.
  using Messages = std::vector<std::vector<double>>;
  Messages message_[2];  // [side][factor]: to that end
  std::map<std::tuple<Cells, ClassesPtr, ClassesPtr>, std::shared_ptr<const MinPlus>> known_costs_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MESSAGE_PASSING_H_
