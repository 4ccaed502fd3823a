// A lower bound of a problem with memory: prices on its rows (Lagrange) and messages on its edges
// (TRW-S, Kolmogorov 2006), both raised in turns; the prices by the volume algorithm (Barahona and
// Anbil 2000).
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
  // `patience`: steps without a better bound before they are shorter.
  explicit MemoryDual(const MemoryCore& core, int patience = kPatience);

  // From these, by row, which are kept until messages have come to terms with them.
  void Start(const std::vector<double>& prices);

  // One sweep over the edges and one step of the prices. `target` is the cost of a known solution,
  // or a guess of it.
  void Step(double target);

  // No assignment within the limit costs less (the core's constant included).
  int64_t bound() const;
  const std::vector<double>& prices() const { return best_prices_; }  // by row, those of bound()
  const Assignment& decoded() const { return decoded_; }              // what the messages prefer
  bool stuck() const { return stuck_; }  // no more progress is to be expected

 private:
  double Sweep();
  void Forward(int v);
  double Backward(int v);
  void Belief(int v);
  double Send(int edge, int from);
  void Decode();
  void PriceCosts();

  struct Tables {                           // of equal edges
    std::vector<double> first[2];           // row-major: a first, b first
    std::vector<double> least[2], most[2];  // of each row
  };
  Tables TablesOf(const CoreEdge& edge, const std::vector<double>& prices) const;

  const MemoryCore& core_;
  const int patience_;
  std::vector<std::shared_ptr<const Tables>> plain_, tables_;  // by edge, prices included
  std::vector<std::vector<double>> message_[2];                // by edge: to a, to b
  std::vector<double> share_;                                  // by variable
  std::vector<std::vector<double>> costs_;  // by variable and value, prices included
  std::vector<double> belief_, given_;
  std::vector<double> prices_, best_prices_, direction_;
  Assignment decoded_;
  double best_ = 0, step_ = 0.5;
  int idle_ = 0;
  bool stuck_ = false;
};

// The loads of the rows beyond what is constant.
std::vector<int64_t> LoadsOf(const MemoryCore& core, const Assignment& assignment);

// The sum of the prices of what is used: by variable and value, and by edge and cell, nothing where
// that is none.
struct CorePrices {
  std::vector<std::vector<double>> values, cells;
};
CorePrices PricesOf(const MemoryCore& core, const std::vector<double>& prices);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_DUAL_H_
