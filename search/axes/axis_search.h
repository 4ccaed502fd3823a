// Local search for labels: a variable follows its neighbours; kicks lead out of what no single
// change makes better.
#ifndef YUBA_SEARCH_AXES_AXIS_SEARCH_H_
#define YUBA_SEARCH_AXES_AXIS_SEARCH_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/axes/axis_memory.h"
#include "search/axes/axis_problem.h"
#include "search/plan/choice.h"
#include "search/solve/budget.h"
#include "search/space/domain.h"
#include "search/space/follow.h"

namespace yuba::search {

class AxisSearch {
 public:
  // All must outlive this. Where the budget is spent, everything below ends soon, and what it
  // leaves is as legal as ever.
  // `memory`, which may be null and has no choices yet, adds to the costs.
  AxisSearch(const AxisProblem& problem, const Mesh& mesh, Nesting nesting, const Budget& budget,
             ChoiceStore* store, AxisMemory* memory = nullptr);

  // Cuts by variable, numbers in the store; -1 where there is none yet.
  const std::vector<int>& choices() const { return choices_; }
  void Set(int variable, int choice) {
    if (memory_ != nullptr) memory_->Move(variable, choices_[variable], choice);
    choices_[variable] = choice;
  }
  void SetAll(const std::vector<int>& choices) {
    for (size_t v = 0; v < choices.size(); ++v) Set(static_cast<int>(v), choices[v]);
  }
  int64_t Bytes() const;  // what these choices move
  int64_t Cost() const { return Bytes() + (memory_ == nullptr ? 0 : memory_->Cost()); }
  AxisMemory* memory() const { return memory_; }
  const ChoiceStore& store() const { return store_; }

  // Cuts those that have none yet, each as its neighbours ask for: weights follow their readers.
  // With `likeliest_grids` none in another grid, cheaper as that may be so far. Where the budget is
  // spent, without a look at what that costs.
  void Start(bool likeliest_grids);
  // Changes one variable after the other until nothing gets better.
  void Descend();
  // Changes something at random and mends what is around, as often as `work` (sums of costs)
  // allows. What is then a little worse may stay, ever less as the end comes near; the best of all
  // is kept.
  void Kick(int64_t work);

  // Cuts that the neighbours of a variable suggest, its own first.
  std::vector<int> ChoicesFollowing(int variable);
  size_t exchanges() const { return mesh_.axes.size() * (mesh_.axes.size() - 1) / 2; }
  // Calls see(cut) for the choice with two axes of one size exchanged, for each two.
  template <typename See>
  void ForEachExchange(int choice, const See& see) {
    for (size_t b = 0; b < mesh_.axes.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (mesh_.axes[a].size == mesh_.axes[b].size) see(Exchanged(choice, a, b));
      }
    }
  }
  int64_t CostOfEdge(const AxisEdge& edge, int tensor_choice, int node_choice) const;
  // The same for cuts as the edge's ends take them; Mapped says which those are.
  int64_t CostOfMapped(const AxisEdge& edge, int tensor_choice, int node_choice) const;
  std::vector<int> Mapped(const std::vector<int>& choices, int dims) const;

 private:
  class Random {  // a fixed sequence
   public:
    size_t Below(size_t count) {
      state_ += 0x9e3779b97f4a7c15u;
      uint64_t z = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      return static_cast<size_t>((z ^ (z >> 31)) % count);
    }

   private:
    uint64_t state_ = 1;
  };

  int Other(const AxisEdge& edge, int variable) const {
    return edge.tensor == variable ? edge.node : edge.tensor;
  }
  WantedAxes WantedBy(const AxisEdge& edge, int variable) const;
  std::vector<WantedAxes> WantedByNeighbours(int variable) const;
  int NumberOf(Choice choice) const;
  int Exchanged(int choice, size_t a, size_t b) const;
  int RandomChoice(int variable);
  int64_t CostAt(int variable, int choice);
  // What the variable then costs less; 0 where it stays as it is.
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
  std::vector<std::pair<int, int>> undo_;                              // (variable, cut before)
  absl::flat_hash_map<std::vector<int>, std::vector<int>> following_;  // by kind and cuts around
  Random random_;
  int64_t work_ = 0;
  int64_t looked_at_work_ = 0, looked_at_steps_ = 0;  // when it last looked at the budget
  bool stopped_ = false;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_SEARCH_H_
