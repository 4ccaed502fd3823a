// Exchanges that NCCL's all-gather can do: every member's piece is contiguous, all have one size,
// and each member gets them side by side.
#ifndef YUBA_RUNTIME_CUDA_GATHER_H_
#define YUBA_RUNTIME_CUDA_GATHER_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/exchange_plan.h"

namespace yuba::cuda {

struct Gather {
  std::vector<int> members;   // devices, in the order in which their pieces lie
  std::vector<int64_t> from;  // [member] its piece, bytes from its arena's start
  std::vector<int64_t> to;    // [member] where it puts the first piece
  int64_t bytes = 0;          // of a piece
};

// The gather that `device` takes part in; the same for all its members.
absl::optional<Gather> GatherOf(const runtime::ExchangePlan& plan, int device);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_GATHER_H_
