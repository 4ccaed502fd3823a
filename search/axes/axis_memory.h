// What is in memory while cuts get labels: rows of the relaxation to grids, since all choices of a
// grid use the same.
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

namespace yuba::search {

// Bytes in use by row for some choices of the variables, and what they cost: prices, and a penalty
// for what exceeds a target. Only points of time at which the most is in use are rows.
class AxisMemory {
 public:
  // All must outlive this; `grids` has rows and all factors. With `buffers` those count too: for
  // labels whose edges are the graph's uses.
  AxisMemory(const AxisProblem& labels, const GridProblem& grids, bool buffers, const Mesh& mesh,
             ChoiceStore* store);

  // In bytes moved: for each byte in use at the prices' times, and for each byte and row above the
  // target.
  void SetPrices(const std::vector<MemoryPrice>& prices, double scale);
  void SetTarget(int64_t target, double penalty);
  bool priced() const { return priced_; }

  // A variable goes from one choice to another, -1 for none: what that costs, or does.
  int64_t Change(int variable, int from, int to);
  void Move(int variable, int from, int to);

  int64_t Cost() const;  // of what was moved in: prices and penalty
  int64_t Peak() const;
  int64_t PriceOf(int variable, int choice);  // without penalty

 private:
  struct Kind {  // of uses: where a choice's usage is found
    GridList grids;
    Cells usage;
    int dims = 0;                             // a number in the store
    absl::flat_hash_map<int, int64_t> known;  // by choice of the variable
  };
  struct Use {
    int kind = 0, begin = 0, end = 0;  // rows
    double price = 0;                  // of a byte
  };

  struct Buffer {
    int kind = 0, edge = 0, begin = 0, end = 0;  // rows
  };

  int KindOf(const GridList& grids, const Cells& usage, int dims);
  int RowAt(int64_t time) const;
  int64_t BytesOf(int kind, int choice);
  int64_t BytesOf(const Buffer& buffer, int tensor_choice, int node_choice);
  void AddRows(const MemoryRows& rows);
  void AddBuffers(const GridProblem& grids);
  // To the rows' shifts, for a variable that goes from one choice to another; the rows between.
  std::pair<int, int> Shift(int variable, int from, int to);
  int64_t Over(int64_t load) const { return load > target_ ? load - target_ : 0; }

  const AxisProblem& labels_;
  const Mesh& mesh_;
  ChoiceStore& store_;
  std::vector<int> choices_;  // by variable: those that were moved in, or -1
  std::vector<Kind> kinds_;
  std::map<std::tuple<GridList, Cells, int>, int> numbers_;  // of kinds
  std::vector<std::vector<Use>> uses_;                       // by variable
  std::vector<std::vector<Buffer>> buffers_;                 // by variable: those of its edges
  std::vector<int64_t> times_, loads_, shift_;               // by row
  std::vector<double> row_prices_;
  int64_t target_ = 0;
  double penalty_ = 0;
  bool priced_ = false;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_MEMORY_H_
