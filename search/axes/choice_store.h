// Choices by number, and what two of them cost: each pair is counted once.
//
// Costs do not change when mesh axes of one class are renamed in both choices, so [32/ab, 64]
// against m/a n/b is counted once and also known for [32/ca, 64] against m/c n/a.
#ifndef YUBA_SEARCH_AXES_CHOICE_STORE_H_
#define YUBA_SEARCH_AXES_CHOICE_STORE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/cost/kernel_costs.h"
#include "search/cost/use_costs.h"
#include "search/plan/choice.h"

namespace yuba::search {

class ChoiceStore {
 public:
  explicit ChoiceStore(const Mesh& mesh) : mesh_(mesh) {}

  // The number of the choice, a new one where it is not stored yet.
  int Number(const Choice& choice);
  const Choice& at(int number) const { return choices_[number]; }

  // Lists of dimensions have numbers too. Entry d of a list says from which extent of another
  // choice extent d takes its axes, -1 for none: {1, 0} exchanges two, as a transpose does.
  int NumberOfDims(const std::vector<int>& dims);
  const std::vector<int>& dims(int number) const { return dims_[number]; }
  // The number of the choice that takes its axes from `choice` as the list `dims` says.
  int Mapped(int choice, int dims);

  // What a use costs, for choices of its tensor and its node. Uses of one kind, a number
  // below the count that SetKinds was given, have equal costs. Different kinds may be counted on
  // several threads at the same time while no choice is added.
  // Costs above `most` count as that (search/model/countable.h).
  void SetKinds(int count, int64_t most) {
    kinds_.resize(count);
    most_ = most;
  }
  int64_t Cost(UseCosts& costs, int kind, int tensor, int node);
  // What a node of this choice costs by itself.
  int64_t Cost(KernelCosts& kernels, int kind, int node);
  // Products that were summed for costs so far, and how many for a new pair of choices on average.
  int64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  double StepsOfPair() const { return static_cast<double>(steps()) / (1.0 + pairs_.load()); }

 private:
  // Both choices as a key in which the axes of each class are numbered in the order of their first
  // appearance.
  std::string Renamed(const Choice& tensor, const Choice& node) const;

  const Mesh& mesh_;
  std::deque<Choice> choices_;
  std::deque<std::vector<int>> dims_;
  absl::flat_hash_map<std::vector<AxisList>, int> numbers_;
  absl::flat_hash_map<uint64_t, int> mapped_;
  struct Known {
    absl::flat_hash_map<uint64_t, int64_t> costs;        // by both choices
    absl::flat_hash_map<std::string, int64_t> by_names;  // by the key of Renamed
    absl::flat_hash_map<int, int64_t> kernels;           // by the node's choice
  };
  std::vector<Known> kinds_;
  int64_t most_ = 0;
  std::atomic<int64_t> steps_{0}, pairs_{0};  // over all kinds
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_CHOICE_STORE_H_
