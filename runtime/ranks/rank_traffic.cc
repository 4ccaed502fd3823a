#include "runtime/ranks/rank_traffic.h"

namespace yuba::runtime {

void RankTraffic::Prepare(int devices, int instructions) {
  traffic_.resize(devices);
  for (Traffic& traffic : traffic_) {
    traffic.received.resize(instructions);
    traffic.received_from.resize(devices);
  }
}

void RankTraffic::Count(int instruction, const ExchangePlan& plan) {
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    const DeviceExchange& own = plan.devices[d];
    for (size_t i = 0; i < own.sources.size(); ++i) {
      traffic_[d].received[instruction] += own.received[i];
      traffic_[d].received_from[own.sources[i]] += own.received[i];
    }
  }
}

}  // namespace yuba::runtime
