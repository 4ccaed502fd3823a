// A model of the bound that prices give, from what assignments cost and by how much they exceed the
// limit: no prices give more than the cheapest of those assignments at them.
#ifndef YUBA_SEARCH_PRICE_MODEL_H_
#define YUBA_SEARCH_PRICE_MODEL_H_

#include <cstdint>
#include <vector>

#include "search/budget.h"

namespace yuba {

struct PriceLine {
  double cost = 0;             // bytes
  std::vector<double> excess;  // bytes, by row; below 0 where there is room
};

struct ModelPrices {
  std::vector<double> prices;   // bytes moved a byte in use, by row
  std::vector<double> weights;  // of the lines: the mixture that makes these prices the best
  double value = 0;             // of the model there
  int64_t work = 0;             // numbers of lines that were looked at
};

// Of the line alone.
double ValueAt(const PriceLine& line, const std::vector<double>& prices);

// The prices where the model, less the square of the distance from `center` over twice `step`, is
// greatest (the proximal bundle method: Lemarechal, "Lagrangian relaxation", 2001; the weights by
// steps between pairs of lines). At least one line; rows as in `center`. Where the budget is spent,
// prices on the way there.
ModelPrices BestInModel(const std::vector<const PriceLine*>& lines,
                        const std::vector<double>& center, double step,
                        const Budget& budget = Budget::Unlimited());

}  // namespace yuba

#endif  // YUBA_SEARCH_PRICE_MODEL_H_
