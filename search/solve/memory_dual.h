// A lower bound of a core (memory_core.h): prices on its rows (Lagrange) and messages on its edges
// (TRW-S; Kolmogorov, "Convergent tree-reweighted message passing for energy minimization", 2006),
// improved in turns. The prices follow the volume algorithm (Barahona and Anbil, "The volume
// algorithm: producing primal solutions with a subgradient method", 2000): a row above the limit
// becomes dearer, one below it cheaper, in steps that get shorter.
#ifndef YUBA_SEARCH_SOLVE_MEMORY_DUAL_H_
#define YUBA_SEARCH_SOLVE_MEMORY_DUAL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "search/solve/memory_core.h"

namespace yuba::search {

class MemoryDual {
 public:
  static constexpr int kPatience = 30;
  // `patience`: after so many steps without a better bound, steps become shorter. The core must
  // outlive this.
  explicit MemoryDual(const MemoryCore& core, int patience = kPatience);

  // Begins with these prices, by row, and lets 30 sweeps of messages adapt to them first.
  void Start(const std::vector<double>& prices);

  // One sweep over the edges and one step of the prices. `target`: the cost of a known solution, or
  // a guess of it; the further the bound is below it, the longer the step.
  void Step(double target);

  // No assignment within the limit costs less (the core's constant included).
  int64_t bound() const;
  const std::vector<double>& prices() const { return best_prices_; }  // by row, those of bound()
  const Assignment& decoded() const { return decoded_; }  // what the messages prefer now
  bool stuck() const { return stuck_; }                   // no more progress is to be expected

 private:
  double Sweep();
  void Forward(int v);
  double Backward(int v);
  void Belief(int v);
  double Send(int edge, int from);
  void Decode();
  void PriceCosts();

  struct Tables {                           // equal edges share theirs
    std::vector<double> first[2];           // row-major: a first, b first
    std::vector<double> least[2], most[2];  // of each row of them
  };
  Tables TablesOf(const CoreEdge& edge, const std::vector<double>& prices) const;

  const MemoryCore& core_;
  const int patience_;
  std::vector<std::shared_ptr<const Tables>> plain_, tables_;  // by edge, prices included
  std::vector<std::vector<double>> message_[2];                // by edge: to a, to b
  std::vector<double> share_;               // by variable: of its belief, to each edge ahead
  std::vector<std::vector<double>> costs_;  // [variable][value], prices included
  std::vector<double> belief_, given_;
  std::vector<double> prices_, best_prices_, direction_;
  Assignment decoded_;
  double best_ = 0, step_ = 0.5;
  int idle_ = 0;
  bool stuck_ = false;
};

// By row: the bytes in use by the core's uses and buffers, to be compared with its room.
std::vector<int64_t> LoadsOf(const MemoryCore& core, const Assignment& assignment);

// Uses and buffers at these prices by row, in bytes moved: [variable][value], and [edge][cell],
// which is empty for edges without a priced buffer.
struct CorePrices {
  std::vector<std::vector<double>> values, cells;
};
CorePrices PricesOf(const MemoryCore& core, const std::vector<double>& prices);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_DUAL_H_
