// A lower bound of a core (memory_core.h): prices on its rows (Lagrange) and messages on its edges
// (TRW-S, message_passing.h), improved in turns. The prices follow the volume algorithm (Barahona
// and Anbil, "The volume algorithm: producing primal solutions with a subgradient method", 2000): a
// row above the limit becomes dearer, one below it cheaper, in steps that get shorter.
#ifndef YUBA_SEARCH_ROWS_MEMORY_DUAL_H_
#define YUBA_SEARCH_ROWS_MEMORY_DUAL_H_

#include <cstdint>
#include <vector>

#include "search/rows/memory_core.h"
#include "search/rows/memory_state.h"
#include "search/solve/message_passing.h"

namespace yuba::search {

struct MemoryDualOptions {
  int patience = 30;       // after so many steps without a better bound, steps become shorter, ...
  double shorter = 0.7;    // ... times this, ...
  double shortest = 1e-4;  // ... and below this no more progress is to be expected
  double longest = 0.5;    // the first step, of what the bound is below its target
  int first_sweeps = 30;   // with the prices of Start, until messages have adapted to them
  // Of a step: the share of its direction that is new, the rest being that of the steps before.
  // Solutions that are read off the messages jump; a row becomes as dear as it is often exceeded.
  double fresh = 0.2;
};

class MemoryDual {
 public:
  // The core must outlive this.
  explicit MemoryDual(const MemoryCore& core, const MemoryDualOptions& options = {});

  // Begins with these prices, by row.
  void Start(const std::vector<double>& prices);

  // Begins again from the best prices, with long steps and without messages. They are passed
  // breadth first from that variable then, and so lead to other assignments. The bound does not
  // sink.
  void Restart(int from);

  // One sweep over the edges and one step of the prices. `target`: the cost of a known solution, or
  // a guess of it; the further the bound is below it, the longer the step.
  void Step(double target);

  // No assignment within the limit costs less (the core's constant included).
  int64_t bound() const;
  const std::vector<double>& prices() const { return best_prices_; }  // by row, those of bound()
  // What the messages prefer now.
  const Assignment& decoded() const { return decoded_.assignment(); }
  bool stuck() const { return stuck_; }  // no more progress is to be expected

 private:
  using Passing = MessagePassing<double>;

  double Sweep();  // returns the bound for the present prices
  void Keep(double bound);
  void PriceCosts();
  Passing::Table TableOf(const CoreEdge& edge, const std::vector<double>& prices) const;
  std::vector<Passing::Edge> PlainEdges() const;

  const MemoryCore& core_;
  const MemoryDualOptions options_;
  const std::vector<Passing::Edge> plain_;  // without prices
  Passing passing_;
  std::vector<bool> priced_;  // by edge: whether its table has prices now
  std::vector<double> prices_, best_prices_, direction_;
  MemoryState decoded_;
  double best_, step_;
  int idle_ = 0;
  bool stuck_ = false;
};

// Uses and buffers at these prices by row, in bytes moved: [variable][value], and [edge][cell],
// which is empty for edges without a priced buffer.
struct CorePrices {
  std::vector<std::vector<double>> values, cells;
};
CorePrices PricesOf(const MemoryCore& core, const std::vector<double>& prices);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_DUAL_H_
