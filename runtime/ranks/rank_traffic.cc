#include "runtime/ranks/rank_traffic.h"

namespace yuba::runtime {

void RankTraffic::Prepare(int devices, int instructions) {
  traffic_.assign(devices, Traffic(devices, instructions));
}

void RankTraffic::Count(int instruction, const ExchangePlan& plan) {
  for (size_t d = 0; d < plan.devices.size(); ++d) traffic_[d].Count(instruction, plan.devices[d]);
}

}  // namespace yuba::runtime
