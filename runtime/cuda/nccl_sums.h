// How sums of ranks on GPUs are added up, and which of them NCCL may have.
//
// Its reductions add up in an order of their own. With one algorithm, the ring, this follows from
// the number of members, the size and NCCL's choice of protocol and channels, which it makes alike
// each time on the same machine; so repeated runs have the same bits. Which ones, it does not
// promise: another machine or version may add up in another order.
#ifndef YUBA_RUNTIME_CUDA_NCCL_SUMS_H_
#define YUBA_RUNTIME_CUDA_NCCL_SUMS_H_

#include <string>

#include "absl/types/optional.h"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/libraries.h"
#include "runtime/reduce.h"

namespace yuba::cuda {

// What NCCL is asked for so that it combines partials as reduce.h does.
struct NcclReduction {
  ncclDataType_t type = ncclUint8;
  ncclRedOp_t reducer = ncclSum;
  bool exact = false;  // any order gives the same bits, as of integers
};

// Nothing where NCCL does not have it, or does not promise it: a largest or smallest float that may
// be NaN, truths, small floats (partials of sums are f32 then), elements of hash arithmetic but
// sums and products. Results are of the partials' type.
absl::optional<NcclReduction> NcclReductionOf(const runtime::Combination& combination);

// Whether NCCL is to combine such partials.
bool NcclAddsUp(Sums sums, const runtime::Combination& combination);

// Before NCCL's first call in this process: writes into the environment, from which NCCL reads it,
// what kRepeatable asks for. What the user has set stays; where that is another algorithm, the line
// to print says so, else it is empty.
std::string SetNcclEnvironment(Sums sums);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_NCCL_SUMS_H_
