// Bucket elimination by grids, up and down: what the checker knows of a problem before it looks at
// single choices.
#ifndef YUBA_SEARCH_CHECK_SWEEP_H_
#define YUBA_SEARCH_CHECK_SWEEP_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "search/check/minimum.h"

namespace yuba::search {

// One step. `scope`: elements that go later, the last of them first; then `element` is the last of
// the joint scope.
struct SweepStep {
  int element = 0;
  std::vector<int> scope;
  std::vector<CheckTable> tables;  // that meet here
  std::vector<int> before;         // steps whose results meet here
  // By values of the scope: the least cost of what is gone, and of the rest.
  CheckTable::Cells up, down;
  std::vector<int64_t> of_value;  // by value of the element: the least cost of all
};

class Sweep {
 public:
  // `order`: the elements, each once. `values` by element: what has no other names. Must outlive
  // this.
  Sweep(const std::vector<int>& order, const Renamings& values);

  int Values(int element) const { return static_cast<int>((*values_[element])[0].size()); }

  // Returns the number of the step where it meets others. Its elements are all of the order.
  int Place(CheckTable table);
  // Once all tables are placed. What is above `limit` together with the least of all else may be
  // told as any number above it. An error where tables would become too large.
  absl::Status Run(int64_t limit);

  const std::vector<SweepStep>& steps() const { return steps_; }
  int64_t least() const { return least_; }

 private:
  void AddScope(SweepStep* step, const std::vector<int>& scope) const;
  std::vector<int> CountsOf(const std::vector<int>& elements) const;
  absl::Status Up(int s);
  void Down(SweepStep* step, int64_t limit);

  const Renamings& values_;
  std::vector<int> rank_;  // by element: its step
  std::vector<SweepStep> steps_;
  int64_t least_ = 0;
  int64_t cells_ = 0, sums_ = 0;  // of all steps up
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_SWEEP_H_
