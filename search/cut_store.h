// Cuts by number, and what two of them cost, each pair counted once.
#ifndef YUBA_SEARCH_CUT_STORE_H_
#define YUBA_SEARCH_CUT_STORE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/grid_costs.h"

namespace yuba {

class CutStore {
 public:
  explicit CutStore(const Mesh& mesh) : mesh_(mesh) {}

  int Number(const Cut& cut);
  const Cut& at(int number) const { return cuts_[number]; }

  // A list of dimensions by number: those of another cut that each extent takes its axes from, -1
  // for none.
  int NumberOfDims(const std::vector<int>& dims);
  const std::vector<int>& dims(int number) const { return dims_[number]; }
  // The cut that takes its axes so.
  int Mapped(int cut, int dims);

  // Bytes of a use. `kind` is one for each `costs`.
  int64_t Cost(UseCosts& costs, int kind, int tensor, int node);
  // Products summed so far, and how many for a new pair of cuts on average.
  int64_t steps() const { return steps_; }
  double StepsOfPair() const { return static_cast<double>(steps_) / (1.0 + by_names_.size()); }

 private:
  std::string Renamed(int kind, const Cut& tensor, const Cut& node) const;

  const Mesh& mesh_;
  std::deque<Cut> cuts_;
  std::deque<std::vector<int>> dims_;
  absl::flat_hash_map<std::vector<AxisList>, int> numbers_;
  absl::flat_hash_map<uint64_t, int> mapped_;
  absl::flat_hash_map<uint64_t, int64_t> costs_;  // by kind and both cuts
  int64_t steps_ = 0;
  absl::flat_hash_map<std::string, int64_t> by_names_;  // axes called by where they come first
};

}  // namespace yuba

#endif  // YUBA_SEARCH_CUT_STORE_H_
