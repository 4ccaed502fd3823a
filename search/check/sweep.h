// Bucket elimination by grids, up and down (Dechter 1999): for every assignment of a step's scope
// the least cost of what is eliminated by then, and of everything else. It tells the checker which
// grids, and which combinations of grids, no cheap plan can have, before it looks at single
// choices.
#ifndef YUBA_SEARCH_CHECK_SWEEP_H_
#define YUBA_SEARCH_CHECK_SWEEP_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "search/check/minimum.h"
#include "search/check/stop.h"

namespace yuba::search {

// One step. `scope`: the elements that its tables contain besides `element`. All of them are
// eliminated later; the one that is eliminated last comes first. The joint scope is `scope` and
// then `element`.
struct SweepStep {
  int element = 0;
  std::vector<int> scope;
  std::vector<CheckTable> tables;  // those whose first eliminated element is this one
  std::vector<int> before;         // earlier steps whose results contain this element
  // By values of the scope, row-major: the least cost of all that this step and those before it
  // have eliminated, and the least cost of all other tables.
  CheckTable::Cells up, down;
  std::vector<int64_t> of_value;  // by value of the element: the least cost of all tables
};

class Sweep {
 public:
  // `order`: the elements, each once. `values`: by element, Unnamed (grids.h) of its number of
  // values; it must outlive this.
  Sweep(const std::vector<int>& order, const Renamings& values);

  int Values(int element) const { return static_cast<int>((*values_[element])[0].size()); }

  // Adds a table; returns the number of its step. Its elements are all in the order.
  int Place(CheckTable table);
  // Once, after all tables are placed. Numbers that together with the least of everything else are
  // above `limit` may be given as any number above it. An error where tables would become too
  // large: more than 2^27 cells or 2^33 sums.
  absl::Status Run(int64_t limit, const Stop& stop);

  const std::vector<SweepStep>& steps() const { return steps_; }
  int64_t least() const { return least_; }  // of all tables together

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
