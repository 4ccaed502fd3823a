// The group of devices and the bytes of an exchange that one call of a library does. A function
// here looks at the plan's pieces, not at Exchange.collective: the boxes of a collective may lie
// scattered in the arena, and a plain exchange may have the right form.
//
// Example: [8/ab] f32 gathered on 4 devices: members 0..3, 8 bytes each. [4, 8/ab] is not one: a
// member's elements lie in four rows. Nor is [8/ba], in whose result device 2 comes before device
// 1: a library's communicator has one order of its members, and one communicator for each set of
// devices is enough. A gather may be in place, from a buffer into itself: then a device has no
// piece of its own, and what it contributes lies where it belongs.
#ifndef YUBA_RUNTIME_CUDA_GROUP_CALL_H_
#define YUBA_RUNTIME_CUDA_GROUP_CALL_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/exchange_plan.h"

namespace yuba::cuda {

struct GroupCall {
  std::vector<int> members;   // devices, ascending: so their bytes lie in the result
  std::vector<int64_t> from;  // [member] what it contributes, bytes from its arena's start
  std::vector<int64_t>
      to;             // [member] where it puts the first member's, bytes from its arena's start
  int64_t bytes = 0;  // that each member contributes
};

// The all-gather that `device` takes part in, the same for all its members: each contributes one
// contiguous run of bytes, all of one size, and gets all of them side by side. Nothing where the
// exchange is no such gather on this device or on one of its sources.
absl::optional<GroupCall> AllGatherOf(const runtime::ExchangePlan& plan, int device);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_GROUP_CALL_H_
