#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/strict_nccl.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace yuba::cuda {
namespace {

// The members of a communicator together.
struct Clique {
  std::mutex mutex;                     // of the events
  std::vector<int> gpus;                // [rank]
  std::vector<cudaEvent_t> came, left;  // [rank] recorded when it has come to a call, and copied
};

}  // namespace
}  // namespace yuba::cuda

struct ncclComm {
  std::shared_ptr<yuba::cuda::Clique> clique;
  int rank = 0;
};

namespace yuba::cuda {
namespace {

struct Call {
  ncclComm_t communicator;
  const char* from;
  char* to;
  size_t count;
  ncclDataType_t type;
  cudaStream_t stream;
};

// Of the calling thread: groups that were begun and not ended, and what was called in them.
thread_local int depth = 0;
thread_local std::vector<Call> calls;

size_t ByteSizeOf(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    default: return 8;
  }
}

// Returns from the calling function where a call of CUDA fails.
#define YUBA_OR_FAIL(call) \
  if ((call) != cudaSuccess) return ncclUnhandledCudaError

ncclResult_t InitAll(ncclComm_t* communicators, int count, const int* gpus) {
  if (count < 1) return ncclInvalidArgument;
  auto clique = std::make_shared<Clique>();
  clique->gpus.assign(gpus, gpus + count);
  clique->came.resize(count);
  clique->left.resize(count);
  for (int rank = 0; rank < count; ++rank) {
    YUBA_OR_FAIL(cudaSetDevice(gpus[rank]));
    YUBA_OR_FAIL(cudaEventCreateWithFlags(&clique->came[rank], cudaEventDisableTiming));
    YUBA_OR_FAIL(cudaEventCreateWithFlags(&clique->left[rank], cudaEventDisableTiming));
    communicators[rank] = new ncclComm{clique, rank};
  }
  return ncclSuccess;
}

ncclResult_t End(ncclComm_t communicator) {
  Clique& clique = *communicator->clique;
  {
    std::lock_guard<std::mutex> lock(clique.mutex);
    cudaEventDestroy(clique.came[communicator->rank]);
    cudaEventDestroy(clique.left[communicator->rank]);
  }
  delete communicator;
  return ncclSuccess;
}

// All members' calls, [rank]: each member comes, copies from all when all have come, and goes on
// when all have copied.
ncclResult_t Run(Clique& clique, const std::vector<const Call*>& by_rank) {
  std::lock_guard<std::mutex> lock(clique.mutex);
  const size_t members = by_rank.size(), bytes = by_rank[0]->count * ByteSizeOf(by_rank[0]->type);
  for (size_t rank = 0; rank < members; ++rank) {
    YUBA_OR_FAIL(cudaSetDevice(clique.gpus[rank]));
    YUBA_OR_FAIL(cudaEventRecord(clique.came[rank], by_rank[rank]->stream));
  }
  for (size_t rank = 0; rank < members; ++rank) {
    const Call& own = *by_rank[rank];
    YUBA_OR_FAIL(cudaSetDevice(clique.gpus[rank]));
    for (size_t other = 0; other < members; ++other) {
      YUBA_OR_FAIL(cudaStreamWaitEvent(own.stream, clique.came[other], 0));
      char* const to = own.to + other * bytes;
      if (to == by_rank[other]->from) continue;  // in place
      YUBA_OR_FAIL(cudaMemcpyAsync(to, by_rank[other]->from, bytes, cudaMemcpyDefault, own.stream));
    }
    YUBA_OR_FAIL(cudaEventRecord(clique.left[rank], own.stream));
  }
  for (size_t rank = 0; rank < members; ++rank) {
    YUBA_OR_FAIL(cudaSetDevice(clique.gpus[rank]));
    for (size_t other = 0; other < members; ++other) {
      YUBA_OR_FAIL(cudaStreamWaitEvent(by_rank[rank]->stream, clique.left[other], 0));
    }
  }
  return ncclSuccess;
}

ncclResult_t StartGroup() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t AllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                       ncclComm_t communicator, cudaStream_t stream) {
  Clique& clique = *communicator->clique;
  const Call call = {
      communicator, static_cast<const char*>(from), static_cast<char*>(to), count, type, stream};
  if (depth == 0) return clique.gpus.size() == 1 ? Run(clique, {&call}) : ncclInvalidUsage;
  const std::lock_guard<std::mutex> lock(clique.mutex);  // an abort frees communicators after it
  calls.push_back(call);
  return ncclSuccess;
}

ncclResult_t EndGroup() {
  if (depth == 0) return ncclInvalidUsage;
  if (--depth > 0) return ncclSuccess;
  const std::vector<Call> ended = std::move(calls);
  calls.clear();
  std::map<Clique*, std::vector<const Call*>> by_clique;
  for (const Call& call : ended) {
    Clique& clique = *call.communicator->clique;
    std::vector<const Call*>& by_rank = by_clique[&clique];
    by_rank.resize(clique.gpus.size());
    const Call*& place = by_rank[call.communicator->rank];
    if (place != nullptr) return ncclInvalidUsage;
    place = &call;
  }
  for (auto& [clique, by_rank] : by_clique) {
    for (const Call* call : by_rank) {
      if (call == nullptr) return ncclInvalidUsage;
      if (call->count != by_rank[0]->count || call->type != by_rank[0]->type)
        return ncclInvalidArgument;
    }
    const ncclResult_t result = Run(*clique, by_rank);
    if (result != ncclSuccess) return result;
  }
  return ncclSuccess;
}
#undef YUBA_OR_FAIL

ncclResult_t AsyncError(ncclComm_t, ncclResult_t* state) {
  *state = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t Version(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* Words(ncclResult_t result) {
  switch (result) {
    case ncclInvalidUsage: return "a group of calls is not complete";
    case ncclInvalidArgument: return "the members' calls differ";
    case ncclUnhandledCudaError: return "a call of CUDA failed";
    default: return "failed";
  }
}

Nccl MakeTable() {
  Nccl table;
  table.ncclGetVersion = Version;
  table.ncclGetErrorString = Words;
  table.ncclCommInitAll = InitAll;
  table.ncclCommGetAsyncError = AsyncError;
  table.ncclCommAbort = End;
  table.ncclGroupStart = StartGroup;
  table.ncclGroupEnd = EndGroup;
  table.ncclAllGather = AllGather;
  table.path = "(strict)";
  table.may_share_gpus = true;
  return table;
}

}  // namespace

const Nccl& StrictNccl() {
  static const Nccl* const table = new Nccl(MakeTable());
  return *table;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
