// The passes of the dual (dual.h). A factor sends a message to each of its two variables: for each
// class the least that the factor and all behind it cost. A sweep is a pass forward and a pass
// backward over the variables. Where cells are many, most sweeps go over the likeliest values
// alone.
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

// Sweeps over all values, before and after the sweeps over the likeliest ones.
inline constexpr int kFirstSweeps = 4, kLastSweeps = 28;

class MessagePassing {
 public:
  MessagePassing(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                 const std::vector<int>& order, const Budget& budget, int64_t most = kForbidden);

  // PreferredAssignment and MaximiseDual of dual.h.
  Assignment Preferred(int sweeps);
  Dual Run(int sweeps, double enough, int64_t many_cells);

 private:
  // One end of a factor: `side` is the place of the variable in its scope.
  struct End {
    int factor, side, other;
  };

  // By variable: the values that are, or were in an earlier round, among the likeliest; ascending.
  using Active = std::vector<std::vector<int>>;

  // message_passing.cc
  // Adds a factor of one variable; leaves its places in the lists by factor empty.
  void AddOwn(const Factor& factor);
  // At most so many sweeps; returns the bound that was reached.
  double Sweep(int sweeps, double enough = std::numeric_limits<double>::infinity());
  // The table of the factor by classes: of each pair the least.
  std::shared_ptr<const MinPlus> CostsOf(const Factor& factor);
  // What v costs alone, and the sum of the messages into it.
  void Belief(int v, std::vector<double>* belief) const;
  // Updates all messages in one direction. Returns the bound, which is one after a backward pass.
  double Pass(bool forward);
  bool Ahead(int v, int other, bool forward) const;
  static void KeepActive(const std::vector<int>& active, std::vector<double>* source);
  // Sends a message to the other end; its least value is taken off and returned.
  double Send(const End& end, const std::vector<double>& source);
  // The share of its belief that a variable gives to each end in a pass.
  double ShareOf(int v) const;

  // sweep_likely.cc
  bool Single() const;
  // As Sweep, where cells are many and each value is its own class. After some sweeps over all, a
  // problem of the likeliest values alone is swept, in rounds; after each round one sweep to all
  // values says which others join. At last the others get messages at which hardly any of them is
  // better than the likeliest, and all are swept.
  void SweepLikely(double enough);
  // Adds the values of least belief to the active ones.
  void Activate(Active* active) const;
  // Calls put(factor, place among the active values, value) for all messages to that side.
  template <typename Put>
  void Exchange(const Active& active, int side, const Put& put) const;
  // Makes messages for all values of those for the active values of first variables. What a value
  // of a second variable costs above its variable's least is given to inactive values of its
  // neighbours; what these then have too much or too little in all is shared out between their
  // ends.
  void Lift(const Active& active, const std::vector<std::vector<int64_t>>& messages);
  // Of second variable v: the messages to inactive values of first variables.
  void LiftInto(int v, const Active& active);
  // Of first variable v: shares out what its inactive values have too much or too little.
  void ShareOut(int v, const std::vector<char>& active);
  // The message to a second variable, where the values of the first one have no belief left.
  void Receive(const End& end);

  // dual.cc
  // The best value of each variable, given those before it and the messages from those after it.
  Assignment Decode() const;
  // The values of least belief.
  std::vector<std::vector<int>> Likely(const Assignment& assignment) const;
  // The messages to first variables as integers, as Dual::messages has them. After a backward pass
  // a factor has its share of the belief of its later variable.
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
  int64_t cells_ = 0;                      // of all factors, shared ones counted each time
  const Active* active_ = nullptr;         // the values that send messages; null: all
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
