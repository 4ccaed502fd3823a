// What a search makes as small as it can: the bytes that a plan moves, or the time that its
// exchanges and kernels take on a machine, each by itself (decision 139).
//
// Costs are integers. Of bytes the unit is one byte, summed over all devices. Of time it is a
// nanosecond: an exchange takes as long as for the device that waits longest for its own boxes,
//   sum over kinds c of links: latency_c * messages_c + bytes_c / bandwidth_c,
// and a kernel as long as on the device with the largest part. What moves anything costs at least
// one unit, and what costs nothing moves nothing. Each of these depends on one sharding and one
// partition, or on a partition alone, so the problem stays pairwise. What a schedule hides depends
// on neighbours and is no part of it (runtime/model predicts that).
//
// Example: a device receives 7 messages of 1 MB over links of 100 GB/s and 2 us: 14 + 70 us, 84,000
// units.
#ifndef YUBA_SEARCH_PLAN_OBJECTIVE_H_
#define YUBA_SEARCH_PLAN_OBJECTIVE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "opsemantics/machine/machine.h"
#include "opsemantics/sharding/moved.h"
#include "search/plan/words.h"

namespace yuba::search {

// What the bytes of a use are at least, whatever the mesh axes of its two grids: for lower bounds.
struct LeastMoved {
  // [kind]: bytes that all devices together receive over links of this kind and greater ones;
  // bytes[0] are all of them.
  std::array<int64_t, kMostKinds> bytes{};
  // [kind]: messages that all devices together receive over links of this kind and greater ones;
  // where any device receives anything, messages[0] may count one for each device.
  std::array<int64_t, kMostKinds> messages{};
};

class Objective {
 public:
  // Bytes. With a machine times are known all the same, for reports.
  Objective() = default;
  // `machine` has links for all kinds of axes of the mesh.
  Objective(ObjectiveKind kind, std::shared_ptr<const Machine> machine);

  ObjectiveKind kind() const { return kind_; }
  bool IsTime() const { return kind_ == ObjectiveKind::kTime; }
  // Null where none is known; never with kTime.
  const std::shared_ptr<const Machine>& machine() const { return machine_; }

  // Nanoseconds of an exchange in which a device receives this; of the device for which that is
  // most. 0 where nothing moves, else at least 1.
  int64_t Exchange(const Moved& received) const;
  int64_t Exchange(const std::vector<Moved>& received) const;
  // No more than Exchange of any use of which `least` holds, on so many devices. With D the devices
  // that receive anything, at least one message each, the longest time is at least the mean over D
  // of the messages' latencies and of bytes over bandwidths, and D is no more than all devices.
  int64_t LeastExchange(const LeastMoved& least, int64_t devices) const;
  // What the bytes of kinds above 0 cost more at least, rounded down: with the LeastExchange of all
  // else no more than LeastExchange of all together.
  int64_t LeastCrossing(const LeastMoved& least, int64_t devices) const;
  // Whether a message, or a byte, over links of a greater kind never costs less.
  bool HasSlowerOuterLinks() const { return slower_outside_; }
  // Nanoseconds of a kernel with its launch, at least 1.
  int64_t Kernel(const KernelWork& work) const;

  friend bool operator==(const Objective& a, const Objective& b);

 private:
  // Of a kind of links: nanoseconds a message, and of a byte in units of 2^-20 ns. Integers, so
  // that solver and checker, which add up in another order, have the same sums.
  struct Price {
    int64_t message = 0, byte = 0;
  };

  ObjectiveKind kind_ = ObjectiveKind::kBytes;
  std::shared_ptr<const Machine> machine_;
  std::vector<Price> prices_;  // [kind]
  // [kind]: the least that a message, or a byte, of this kind or a greater one costs more than one
  // of the kind before: what bounds may add for each kind that is passed.
  std::vector<Price> steps_;
  bool slower_outside_ = true;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_OBJECTIVE_H_
