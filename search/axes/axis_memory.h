// Memory in use while the local search assigns axes.
//
// All choices of a grid use the same bytes on the fullest device, so the rows are those of the grid
// problem (search/model/grid_problem.h). When a variable changes its choice, the rows of its uses
// and of its buffers change, and with them two costs: prices on bytes in use at some times, and a
// penalty for bytes above a target. Example: rows load 900, 1000 and 400 bytes, the target is 950
// and the penalty 2: the middle row adds 100 to the cost.
#ifndef YUBA_SEARCH_AXES_AXIS_MEMORY_H_
#define YUBA_SEARCH_AXES_AXIS_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/axes/axis_problem.h"
#include "search/model/grid_problem.h"
#include "search/plan/memory_price.h"
#include "search/solve/timeline.h"

namespace yuba::search {

// Bytes in use by row, on the device that uses most, for the current choices of the variables. A
// row is a time at which some use or buffer begins: between two such times nothing is added, so no
// peak is missed.
class AxisMemory {
 public:
  // All arguments must outlive this. `grids` has rows and all its factors. With `buffers` the rows
  // count buffers of transfers too; then the edges of `problem` must be the graph's uses, in their
  // order, which those of a tied problem are not.
  AxisMemory(const AxisProblem& problem, const GridProblem& grids, bool buffers, const Mesh& mesh,
             ChoiceStore* store);

  // Costs are in bytes moved. SetPrices: for each byte in use at the time of a price, `scale` times
  // that price (in units of the rows' scale). SetTarget: for each byte by which each row exceeds
  // `target` bytes, `penalty`. Each replaces what was set before.
  void SetPrices(const std::vector<MemoryPrice>& prices, double scale);
  void SetTarget(int64_t target, double penalty);
  bool priced() const { return priced_; }

  // A variable goes from one choice (a number in the store) to another; -1: it has none. Change
  // returns by how much the cost grows and changes nothing; Move does it.
  int64_t Change(int variable, int from, int to);
  void Move(int variable, int from, int to);

  int64_t Cost() const;  // prices and penalty of the current choices, in bytes moved
  int64_t Peak() const;  // the most bytes in use in any row
  // What the variable's own uses cost at the prices: no buffers, no penalty.
  int64_t PriceOf(int variable, int choice);

 private:
  // Uses of one kind have equal bytes for equal choices.
  struct Kind {
    GridList grids;
    Cells usage;                              // bytes, by position in `grids`
    int dims = 0;                             // how the element takes its variable's axes (store)
    absl::flat_hash_map<int, int64_t> known;  // bytes by choice of the variable
  };
  struct Use {
    int kind = 0, begin = 0, end = 0;  // rows [begin, end)
    double price = 0;                  // of a byte, summed over these rows
  };

  struct Buffer {
    int kind = 0, edge = 0, begin = 0, end = 0;  // rows [begin, end)
  };

  int KindOf(const GridList& grids, const Cells& usage, int dims);
  int64_t BytesOf(int kind, int choice);
  int64_t BytesOf(const Buffer& buffer, int tensor_choice, int node_choice);
  void AddRows(const MemoryRows& rows);
  void AddBuffers(const GridProblem& grids);
  // Sets steps_ for a variable that changes its choice.
  void FindSteps(int variable, int from, int to);
  // Calls see(begin, end, by) for rows [begin, end) whose loads steps_ change by as many bytes.
  template <typename See>
  void ForEachStretch(const See& see) const;
  // By how much more the rows [begin, end) exceed the target if their loads grow by `by`.
  int64_t OverBy(int begin, int end, int64_t by) const;
  void UpdateMost(int begin, int end);  // after the loads of rows [begin, end) changed
  int64_t Over(int64_t load) const { return load > target_ ? load - target_ : 0; }

  const AxisProblem& problem_;
  const Mesh& mesh_;
  ChoiceStore& store_;
  std::vector<int> choices_;  // by variable: its current choice, or -1
  std::vector<Kind> kinds_;
  std::map<std::tuple<GridList, Cells, int>, int> numbers_;  // of kinds
  std::vector<std::vector<Use>> uses_;                       // by variable
  std::vector<std::vector<Buffer>> buffers_;                 // by variable: those of its edges
  const int64_t price_units_;                                // of a byte moved
  Timeline times_;                                           // of the rows
  std::vector<int64_t> loads_;                               // by row
  std::vector<int64_t> most_;                   // the greatest load of each kBlock rows
  std::vector<std::pair<int, int64_t>> steps_;  // (row, by): from there on loads change by more
  std::vector<double> row_prices_;
  std::vector<int> priced_rows_;  // those with a price, ascending
  int64_t target_ = 0;
  double penalty_ = 0;
  bool priced_ = false;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_MEMORY_H_
