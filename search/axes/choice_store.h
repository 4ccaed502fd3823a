// Cuts by number, and what two of them cost, each pair counted once.
#ifndef YUBA_SEARCH_AXES_SHARDING_STORE_H_
#define YUBA_SEARCH_AXES_SHARDING_STORE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/cost/use_costs.h"
#include "search/plan/choice.h"

namespace yuba::search {

class ChoiceStore {
 public:
  explicit ChoiceStore(const Mesh& mesh) : mesh_(mesh) {}

  int Number(const Choice& choice);
  const Choice& at(int number) const { return choices_[number]; }

  // A list of dimensions by number: those of another choice that each extent takes its axes from,
  // -1 for none.
  int NumberOfDims(const std::vector<int>& dims);
  const std::vector<int>& dims(int number) const { return dims_[number]; }
  // The choice that takes its axes so.
  int Mapped(int choice, int dims);

  // Bytes of a use. `kind` is one for each `costs`, and one of so many. Uses of different kinds may
  // be counted at the same time while no choice is added.
  void SetKinds(int count) { kinds_.resize(count); }
  int64_t Cost(UseCosts& costs, int kind, int tensor, int node);
  // Products summed so far, and how many for a new pair of cuts on average.
  int64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  double StepsOfPair() const { return static_cast<double>(steps()) / (1.0 + pairs_.load()); }

 private:
  std::string Renamed(const Choice& tensor, const Choice& node) const;

  const Mesh& mesh_;
  std::deque<Choice> choices_;
  std::deque<std::vector<int>> dims_;
  absl::flat_hash_map<std::vector<AxisList>, int> numbers_;
  absl::flat_hash_map<uint64_t, int> mapped_;
  struct Known {
    absl::flat_hash_map<uint64_t, int64_t> costs;        // by both choices
    absl::flat_hash_map<std::string, int64_t> by_names;  // axes called by where they come first
  };
  std::vector<Known> kinds_;
  std::atomic<int64_t> steps_{0}, pairs_{0};  // sums over all kinds
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_SHARDING_STORE_H_
