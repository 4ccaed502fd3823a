// TRW-S: sequential tree-reweighted message passing (Kolmogorov, "Convergent tree-reweighted
// message passing for energy minimization", 2006). Variables have unary costs, edges have tables of
// costs, and both may change between sweeps, as prices do.
//
// An edge has a message to each of its two variables: for each value the least that the edge and
// all behind it cost. The belief of a value is its unary cost with all messages to it. Messages
// reparametrise the costs: what they add to beliefs they take off the tables, so for any messages
// the least beliefs, with the least that is left in the tables, add up to a lower bound. A pass
// goes over the variables in their order, or against it; each sends a share of its belief along the
// edges to those that come later. A sweep is a pass forward and a pass backward.
#ifndef YUBA_SEARCH_SOLVE_MESSAGE_PASSING_H_
#define YUBA_SEARCH_SOLVE_MESSAGE_PASSING_H_

#include <array>
#include <memory>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/budget.h"
#include "search/solve/min_plus.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

template <typename Cell>  // of the tables: float or double (min_plus.h)
class MessagePassing {
 public:
  using Table = std::shared_ptr<const MinPlus<Cell>>;
  struct Edge {
    int variables[2] = {0, 0};  // distinct; rows of the table are values of the first
    Table costs;                // equal edges may share it
  };
  // An edge seen from one of its variables: variables[side] is that one.
  struct End {
    int edge = 0, side = 0, other = 0;
  };
  // [side][edge][value]: to variables[side] of the edge.
  using Messages = std::array<std::vector<std::vector<double>>, 2>;

  // `unary`: [variable][value]. `order`: all variables. `constant`: what all assignments cost
  // besides. All messages are 0 at first.
  MessagePassing(std::vector<std::vector<double>> unary, std::vector<Edge> edges,
                 const std::vector<int>& order, double constant = 0);

  void SetUnary(std::vector<std::vector<double>> unary) { unary_ = std::move(unary); }
  void SetCosts(int edge, Table costs) { edges_[edge].costs = std::move(costs); }

  // The lower bound after a pass forward and one backward. Nothing where the budget was spent
  // before the end: messages in the middle of a pass show less than those before it.
  absl::optional<double> Sweep(const Budget& budget = Budget::Unlimited());
  // One pass. Its bound holds after a backward pass alone.
  absl::optional<double> Pass(bool forward, const Budget& budget = Budget::Unlimited());

  // By value of the variable.
  void Belief(int variable, std::vector<double>* belief) const;
  // The share of its belief that a variable sends to each end ahead of it.
  double ShareOf(int variable) const { return share_[variable]; }
  // Whether a pass in that direction meets `other` after `variable`.
  bool Ahead(int variable, int other, bool forward) const {
    return (place_[other] > place_[variable]) == forward;
  }
  // The best value of each variable in the order, given the values of those before it and the
  // messages from those after it.
  Assignment Decode() const;

  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<End>& ends(int variable) const { return ends_[variable]; }
  const std::vector<double>& unary(int variable) const { return unary_[variable]; }
  int variables() const { return static_cast<int>(ends_.size()); }
  const Messages& messages() const { return messages_; }
  Messages& messages() { return messages_; }

 private:
  // Sends a message to the other end; its least is taken off and returned.
  double Send(const End& end, const std::vector<double>& source);

  std::vector<std::vector<double>> unary_;
  std::vector<Edge> edges_;
  std::vector<int> order_;
  double constant_;
  std::vector<int> place_;              // by variable: its place in the order
  std::vector<std::vector<End>> ends_;  // by variable
  std::vector<double> share_;           // by variable
  Messages messages_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MESSAGE_PASSING_H_
