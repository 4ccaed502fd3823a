// Local search for axes. A variable takes the cheapest of the choices that follow its neighbours:
// where a reader is partitioned m/ab, its operand [32, 64] tries [32/ab, 64] within its grid. Where
// no single change helps, kicks change something at random and mend what is around.
#ifndef YUBA_SEARCH_AXES_AXIS_SEARCH_H_
#define YUBA_SEARCH_AXES_AXIS_SEARCH_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/axes/axis_memory.h"
#include "search/axes/axis_problem.h"
#include "search/plan/choice.h"
#include "search/solve/budget.h"
#include "search/solve/random.h"
#include "search/space/domain.h"
#include "search/space/follow.h"

namespace yuba::search {

class AxisSearch {
 public:
  // All arguments must outlive this. No variable has a choice at first. `memory` may be null, has
  // no choices yet, and adds its cost to the bytes moved. Where the budget is spent, everything
  // below ends soon and leaves legal choices. Not for several threads.
  AxisSearch(const AxisProblem& problem, const Mesh& mesh, Nesting nesting, const Budget& budget,
             ChoiceStore* store, AxisMemory* memory = nullptr);

  // By variable: its choice, a number in the store; -1 where it has none yet.
  const std::vector<int>& choices() const { return choices_; }
  void Set(int variable, int choice) {
    if (memory_ != nullptr) memory_->Move(variable, choices_[variable], choice);
    choices_[variable] = choice;
  }
  void SetAll(const std::vector<int>& choices) {
    for (size_t v = 0; v < choices.size(); ++v) Set(static_cast<int>(v), choices[v]);
  }
  int64_t Bytes() const;  // what these choices move in a step; all variables have one
  int64_t Cost() const { return Bytes() + (memory_ == nullptr ? 0 : memory_->Cost()); }
  AxisMemory* memory() const { return memory_; }
  const ChoiceStore& store() const { return store_; }

  // Gives each variable that has no choice yet the cheapest that follows its neighbours, beginning
  // with one that the graph computes; so weights follow their readers. With `likeliest_grids` each
  // stays in the first of its grids. Where the budget is spent, costs are not looked at.
  void Start(bool likeliest_grids);
  // Gives one variable after the other its cheapest choice, until none gets better.
  void Descend();
  // Gives a random variable a random choice and lets its neighbours follow, again and again until
  // `work` sums of costs are made. A change that makes the whole a little worse may stay; how much
  // worse sinks to nothing towards the end. Leaves the best choices met.
  void Kick(int64_t work);

  // The choices that follow the neighbours of a variable (search/space/follow.h), its own first.
  std::vector<int> ChoicesFollowing(int variable);
  // An upper bound of how many exchanges a choice has.
  size_t exchanges() const { return mesh_.axes.size() * (mesh_.axes.size() - 1) / 2; }
  // Calls see(number) with the choice of `variable` in which axes a and b are exchanged, for each
  // two axes of one class.
  template <typename See>
  void ForEachExchange(int variable, int choice, const See& see) {
    for (size_t b = 0; b < mesh_.axes.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (mesh_.axes[a].axis_class() == mesh_.axes[b].axis_class()) {
          see(Exchanged(variable, choice, a, b));
        }
      }
    }
  }
  // A choice of the variable, and all legal ones in which one mesh axis is elsewhere: outermost or
  // innermost on any extent, or where that is legal nowhere.
  std::vector<int> WithMoved(int variable, int choice, uint8_t axis) const;
  // Bytes that all uses of the edge move, for these choices of its two variables.
  int64_t CostOfEdge(const AxisEdge& edge, int tensor_choice, int node_choice) const;
  // The same for choices of the tensor and of the node themselves, as Mapped gives them: the
  // variables' choices with the edge's tensor_dims or node_dims.
  int64_t CostOfMapped(const AxisEdge& edge, int tensor_choice, int node_choice) const;
  std::vector<int> Mapped(const std::vector<int>& choices, int dims) const;

 private:
  int Other(const AxisEdge& edge, int variable) const {
    return edge.tensor == variable ? edge.node : edge.tensor;
  }
  WantedAxes WantedBy(const AxisEdge& edge, int variable) const;
  std::vector<WantedAxes> WantedByNeighbours(int variable) const;
  // The number of a choice for the variable, made like it where pins do not allow it.
  int NumberOf(int variable, Choice choice) const;
  int Exchanged(int variable, int choice, size_t a, size_t b) const;
  int RandomChoice(int variable);
  // What the variable's edges and its memory cost with this choice. The sum stops at `enough`; what
  // is returned then is at least that, since no edge costs less than 0.
  int64_t CostAt(int variable, int choice, int64_t enough = std::numeric_limits<int64_t>::max());
  // Gives the variable its cheapest choice; returns by how much it then costs less, 0 where it
  // keeps its choice.
  int64_t SetBest(int variable, bool likeliest_grid = false);
  void Follow(int variable);
  bool Stopped();
  bool HasNeighbour(int variable) const;
  void Mend(int variable, int64_t* gained);

  const AxisProblem& problem_;
  const Mesh& mesh_;
  const Nesting nesting_;
  const Budget& budget_;
  ChoiceStore& store_;
  AxisMemory* const memory_;
  std::vector<int> choices_;
  std::vector<std::pair<int, int>> undo_;  // (variable, its choice before)
  absl::flat_hash_map<std::vector<int>, std::vector<int>>
      following_;  // by kind, own choice, neighbours' choices
  Random random_;
  int64_t work_ = 0;
  int64_t looked_at_work_ = 0, looked_at_steps_ = 0;  // when it last looked at the budget
  bool stopped_ = false;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_SEARCH_H_
