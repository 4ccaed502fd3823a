#ifdef YUBA_WITH_CUDA
// The libraries of the fake GPUs; of NCCL what is fake of it.
#include "tests/runtime/cuda/fake_libraries.h"

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "runtime/cuda/strict_nccl.h"
#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {
namespace {

// NCCL is the strict one (strict_nccl.h), which counts, refuses two members on one GPU as the real
// one does, and may hang.
std::atomic<bool> aborted{false};

ncclResult_t InitAll(ncclComm_t* communicators, int count, const int* gpus) {
  if (std::set<int>(gpus, gpus + count).size() != static_cast<size_t>(count))
    return ncclInvalidUsage;
  aborted = false;
  ++Fake().communicators;
  return StrictNccl().ncclCommInitAll(communicators, count, gpus);
}
ncclResult_t AbortCommunicator(ncclComm_t communicator) {
  aborted = true;
  ++Fake().aborts;
  return StrictNccl().ncclCommAbort(communicator);
}
ncclResult_t EndGroup() {
  const bool for_ever = Fake().nccl == FakeCuda::kBlocksForEver;
  const bool until_abort = Fake().nccl == FakeCuda::kBlocksUntilAbort;
  while (for_ever || (until_abort && !aborted)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (until_abort) {
    return ncclInternalError;
  }
  ++Fake().gathers;
  return StrictNccl().ncclGroupEnd();
}
ncclResult_t AsyncError(ncclComm_t, ncclResult_t* state) {
  *state = Fake().nccl == FakeCuda::kFailsLater ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

}  // namespace

void FakeLibraries() {
  FakeCublasLt();
  FakeCudnn();
  if (auto opened = Nccl::Open(); opened.ok()) {
    Nccl& nccl = *const_cast<Nccl*>(*opened);
    const std::string path = nccl.path;
    nccl = StrictNccl();
    nccl.path = path;
    nccl.may_share_gpus = false;
    nccl.ncclCommInitAll = InitAll;
    nccl.ncclCommAbort = AbortCommunicator;
    nccl.ncclCommGetAsyncError = AsyncError;
    nccl.ncclGroupEnd = EndGroup;
    FakeNcclOfRanks(nccl);
  }
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
