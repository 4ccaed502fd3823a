// A stand-in for NCCL that is made of copies and events of CUDA alone: several members of a
// communicator may be on one GPU, which NCCL refuses, and every call is checked. It shows on one
// GPU, or on none, that the back end calls NCCL as it wants to be called; it is slow.
//
// Errors are ncclInvalidUsage: a collective outside of a group, a group in which a member is
// missing or comes twice, and groups that are ended and were not begun; and ncclInvalidArgument:
// members that differ in what they call, in counts or in types.
#ifndef YUBA_RUNTIME_CUDA_STRICT_NCCL_H_
#define YUBA_RUNTIME_CUDA_STRICT_NCCL_H_

#include "runtime/cuda/libraries.h"

namespace yuba::cuda {

const Nccl& StrictNccl();

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_STRICT_NCCL_H_
