// Finds exchanges that NCCL's all-gather can do: every member contributes one contiguous run of
// bytes, all of one size, and each member gets all of them side by side. It looks at the plan's
// pieces, not at Exchange.collective, so a plain exchange of that form is found too.
//
// Example: [8/ab] f32 gathered on 4 devices: members 0..3, 8 bytes each. [4, 8/ab] is not one: a
// member's elements lie in four rows. Nor is an in-place gather, in which a device has no piece of
// its own.
#ifndef YUBA_RUNTIME_CUDA_GATHER_H_
#define YUBA_RUNTIME_CUDA_GATHER_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/exchange_plan.h"

namespace yuba::cuda {

struct Gather {
  std::vector<int> members;   // devices, in the order in which their bytes lie in the result
  std::vector<int64_t> from;  // [member] what it contributes, bytes from its arena's start
  std::vector<int64_t>
      to;             // [member] where it puts the first member's, bytes from its arena's start
  int64_t bytes = 0;  // that each member contributes
};

// The gather that `device` takes part in, the same for all its members; nothing where the exchange
// is no such gather on this device or on one of its sources.
absl::optional<Gather> GatherOf(const runtime::ExchangePlan& plan, int device);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_GATHER_H_
