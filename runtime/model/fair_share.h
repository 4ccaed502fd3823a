// Bandwidth shared fairly: every flow gets as much as any other that uses the same full link.
#ifndef YUBA_RUNTIME_MODEL_FAIR_SHARE_H_
#define YUBA_RUNTIME_MODEL_FAIR_SHARE_H_

#include <utility>
#include <vector>

namespace yuba::runtime {

// The links that a flow uses: (position in the capacities, how much of the link a unit of the
// flow's rate takes; above 0).
using LinkUse = std::vector<std::pair<int, double>>;

// Max-min fair rates, [flow], in the capacities' unit: all rates grow together until a link is
// full; the flows that use it keep their rate, the others go on. Each flow uses at least one link.
//
// Example: one flow from device 0 to 1 and one from 0 to 2, links of 10: they share what leaves
// device 0 and get 5 each.
std::vector<double> FairRates(const std::vector<LinkUse>& flows, std::vector<double> capacities);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_FAIR_SHARE_H_
