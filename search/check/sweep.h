// Bucket elimination (Dechter 1999). Up, it gives the least cost of all plans. By grids it also
// goes down: for every assignment of a step's scope the least cost of what is eliminated by then,
// and of everything else. That tells the checker which grids, and which combinations of grids, no
// cheap plan can have, before it looks at single choices.
#ifndef YUBA_SEARCH_CHECK_SWEEP_H_
#define YUBA_SEARCH_CHECK_SWEEP_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
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
  // `order`: elements, each once; others are not eliminated. `values`: by element, what renames its
  // values (Unnamed of grids.h where nothing does); it must outlive this.
  Sweep(const std::vector<int>& order, const Renamings& values);

  int Values(int element) const { return static_cast<int>((*values_[element])[0].size()); }

  // Adds a table; returns the number of its step, -1 where none of its elements is in the order.
  int Place(CheckTable table);
  // Once, after all tables are placed. An error where a table would have more than 2^27 cells, or
  // all of them go beyond the limits.
  struct Limits {
    int64_t sums, cells;
  };
  absl::Status Up(const Limits& limits, const Stop& stop);
  // Up and down, where the order has all elements. Numbers that together with the least of
  // everything else are above `limit` may be given as any number above it. The limits are 2^33 sums
  // and 2^27 cells.
  absl::Status Run(int64_t limit, const Stop& stop);

  const std::vector<SweepStep>& steps() const { return steps_; }
  // What Up leaves: the tables over elements that are not in the order, and the least cost of all
  // parts of the graph that are eliminated as a whole.
  Remaining left() const { return {left_, least_}; }

 private:
  void AddScope(SweepStep* step, const std::vector<int>& scope) const;
  std::vector<int> CountsOf(const std::vector<int>& elements) const;
  absl::Status Up(int s, const Limits& limits);
  absl::StatusOr<CheckTable::Cells> Least(const SweepStep& step, const Limits& limits);
  void Down(SweepStep* step, int64_t limit);

  const Renamings& values_;
  std::vector<int> rank_;  // by element: its step; for one that is not in the order their number
  std::vector<SweepStep> steps_;
  // By which tables meet in a step, and how: equal work is done once.
  std::map<std::vector<int64_t>, CheckTable::Cells> done_;
  std::vector<CheckTable> left_;
  int64_t least_ = 0;
  int64_t cells_ = 0, sums_ = 0;  // of all steps up
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_SWEEP_H_
