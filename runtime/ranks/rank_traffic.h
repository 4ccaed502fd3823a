// Counts of what moves between ranks. Each rank counts for all, by the plans that all of them have,
// the exchanges that it has been through itself.
#ifndef YUBA_RUNTIME_RANKS_RANK_TRAFFIC_H_
#define YUBA_RUNTIME_RANKS_RANK_TRAFFIC_H_

#include <vector>

#include "runtime/communicator.h"

namespace yuba::runtime {

class RankTraffic {
 public:
  void Prepare(int devices, int instructions);
  // The exchange was gone through once more.
  void Count(int instruction, const ExchangePlan& plan);
  const Traffic& Of(int device) const { return traffic_[device]; }

 private:
  std::vector<Traffic> traffic_;  // [device]
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_RANK_TRAFFIC_H_
