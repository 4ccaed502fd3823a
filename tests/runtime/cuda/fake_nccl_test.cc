// The fake of NCCL is as strict as NCCL's documentation.

#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/libraries.h"
#include "tests/runtime/cuda/on_fakes.h"

namespace yuba::cuda {
namespace {

// Two members of a communicator, each with a stream and memory on a GPU of its own.
struct Pair {
  Pair() : nccl(**Nccl::Open()) {
    ncclUniqueId id;
    nccl.ncclGetUniqueId(&id);
    for (int rank = 0; rank < 2; ++rank) {
      cudaSetDevice(rank);
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      nccl.ncclCommInitRankConfig(&members[rank], 2, id, rank, &config);
      cudaStreamCreateWithFlags(&streams[rank], 0);
      cudaMalloc(reinterpret_cast<void**>(&memory[rank]), 64);
    }
    for (int rank : {0, 1}) REQUIRE(StateOf(rank) == ncclSuccess);
  }
  ~Pair() {
    for (int rank = 0; rank < 2; ++rank) {
      nccl.ncclCommAbort(members[rank]);
      cudaStreamSynchronize(streams[rank]);
      cudaStreamDestroy(streams[rank]);
      cudaFree(memory[rank]);
    }
  }
  ncclResult_t StateOf(int rank) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) nccl.ncclCommGetAsyncError(members[rank], &state);
    return state;
  }
  // A group of one call.
  template <typename Call>
  ncclResult_t Group(const Call& call) {
    nccl.ncclGroupStart();
    call();
    return nccl.ncclGroupEnd();
  }
  ncclResult_t Gather(int rank, char* from, char* to, size_t count,
                      ncclDataType_t type = ncclUint8) {
    return Group([&] { nccl.ncclAllGather(from, to, count, type, members[rank], streams[rank]); });
  }
  ncclResult_t Scatter(int rank, char* from, char* to, size_t count,
                       ncclDataType_t type = ncclFloat32, ncclRedOp_t reducer = ncclSum) {
    return Group([&] {
      nccl.ncclReduceScatter(from, to, count, type, reducer, members[rank], streams[rank]);
    });
  }
  ncclResult_t Reduce(int rank, char* from, char* to, size_t count,
                      ncclDataType_t type = ncclFloat32, ncclRedOp_t reducer = ncclSum) {
    return Group(
        [&] { nccl.ncclAllReduce(from, to, count, type, reducer, members[rank], streams[rank]); });
  }
  // Both ranks have made a call that does not fit together.
  void RequireBroken() {
    for (int rank : {0, 1}) CHECK(StateOf(rank) == ncclSuccess);
    for (int rank : {0, 1}) CHECK(cudaStreamQuery(streams[rank]) == cudaErrorNotReady);
    for (int rank : {0, 1}) CHECK(StateOf(rank) == ncclInvalidUsage);
  }
  // A group of one message; rank 0 sends and rank 1 receives.
  ncclResult_t Move(int rank, size_t bytes, int peer, char* data) {
    nccl.ncclGroupStart();
    if (rank == 0)
      nccl.ncclSend(data, bytes, ncclUint8, peer, members[rank], streams[rank]);
    else
      nccl.ncclRecv(data, bytes, ncclUint8, peer, members[rank], streams[rank]);
    return nccl.ncclGroupEnd();
  }

  const Nccl& nccl;
  ncclComm_t members[2] = {};
  cudaStream_t streams[2] = {};
  char* memory[2] = {};
};

TEST_CASE("The fake of NCCL is strict about messages") {
  OnFakes fakes(2);
  Pair pair;
  CHECK(pair.nccl.ncclSend(pair.memory[0], 4, ncclUint8, 1, pair.members[0], pair.streams[0]) ==
        ncclInvalidUsage);                                            // outside of a group
  CHECK(pair.Move(0, 4, 0, pair.memory[0]) == ncclInvalidArgument);   // to itself
  CHECK(pair.Move(0, 0, 1, pair.memory[0]) == ncclInvalidArgument);   // nothing
  CHECK(pair.Move(0, 65, 1, pair.memory[0]) == ncclInvalidArgument);  // more than there is
  CHECK(pair.Move(0, 4, 1, pair.memory[1]) == ncclInvalidArgument);   // of another GPU
  CHECK(pair.Move(0, 8, 1, pair.memory[0]) == ncclInProgress);
  CHECK(pair.Move(0, 8, 1, pair.memory[0]) == ncclInvalidUsage);  // the last is not there yet
  CHECK(pair.StateOf(0) == ncclSuccess);
  CHECK(cudaStreamQuery(pair.streams[0]) == cudaErrorNotReady);  // nobody receives it
  SECTION("equal sizes") {
    CHECK(pair.Move(1, 8, 0, pair.memory[1]) == ncclInProgress);
    CHECK(pair.StateOf(1) == ncclSuccess);
    for (int rank : {0, 1}) CHECK(cudaStreamQuery(pair.streams[rank]) == cudaSuccess);
    for (int rank : {0, 1}) CHECK(pair.StateOf(rank) == ncclSuccess);
  }
  SECTION("another size") {
    CHECK(pair.Move(1, 4, 0, pair.memory[1]) == ncclInProgress);
    CHECK(pair.StateOf(1) == ncclSuccess);
    for (int rank : {0, 1}) CHECK(cudaStreamQuery(pair.streams[rank]) == cudaErrorNotReady);
    for (int rank : {0, 1}) CHECK(pair.StateOf(rank) == ncclInvalidUsage);
  }
}

TEST_CASE("The fake of NCCL is strict about collectives") {
  OnFakes fakes(2);
  Pair pair;
  char* const m = pair.memory[0];  // of 64 bytes
  CHECK(pair.nccl.ncclAllGather(m, m, 4, ncclUint8, pair.members[0], pair.streams[0]) ==
        ncclInvalidUsage);                                      // outside of a group
  CHECK(pair.Gather(0, m, m + 32, 0) == ncclInvalidArgument);   // nothing
  CHECK(pair.Gather(0, m, m + 32, 17) == ncclInvalidArgument);  // two parts do not fit
  CHECK(pair.Gather(0, m, m + 8, 16) == ncclInvalidArgument);   // over what it gives
  CHECK(pair.Gather(0, m, pair.memory[1], 4) == ncclInvalidArgument);
  CHECK(pair.Gather(0, m, m + 32, 4, ncclFloat16) == ncclInvalidArgument);
  CHECK(pair.Scatter(0, m, m + 4, 2) == ncclInvalidArgument);  // in place, of another rank
  CHECK(pair.Scatter(0, m, m + 32, 2, ncclFloat32, ncclAvg) == ncclInvalidArgument);
  CHECK(pair.Reduce(0, m, m + 4, 2) == ncclInvalidArgument);  // over half of what it gives
  SECTION("in place, as NCCL wants it") {
    for (int rank : {0, 1}) {
      char* const own = pair.memory[rank];
      CHECK(pair.Gather(rank, own + rank * 16, own, 16) == ncclInProgress);
      CHECK(pair.StateOf(rank) == ncclSuccess);
      CHECK(pair.Scatter(rank, own, own + rank * 16, 4) == ncclInProgress);
      CHECK(pair.StateOf(rank) == ncclSuccess);
      CHECK(pair.Reduce(rank, own, own, 4) == ncclInProgress);
      CHECK(pair.StateOf(rank) == ncclSuccess);
    }
    for (int rank : {0, 1}) CHECK(cudaStreamQuery(pair.streams[rank]) == cudaSuccess);
  }
  SECTION("calls that use each other's memory in one group") {
    pair.nccl.ncclGroupStart();
    pair.nccl.ncclAllReduce(m, m + 16, 4, ncclFloat32, ncclSum, pair.members[0], pair.streams[0]);
    pair.nccl.ncclAllReduce(m + 16, m + 32, 4, ncclFloat32, ncclSum, pair.members[0],
                            pair.streams[0]);
    CHECK(pair.nccl.ncclGroupEnd() == ncclInvalidUsage);
  }
  SECTION("another count on the other rank") {
    pair.Gather(0, m, m + 32, 4);
    pair.Gather(1, pair.memory[1], pair.memory[1] + 32, 8);
    pair.RequireBroken();
  }
  SECTION("another type") {
    pair.Reduce(0, m, m + 32, 4);
    pair.Reduce(1, pair.memory[1], pair.memory[1] + 32, 4, ncclInt32);
    pair.RequireBroken();
  }
  SECTION("another reducer") {
    pair.Reduce(0, m, m + 32, 4);
    pair.Reduce(1, pair.memory[1], pair.memory[1] + 32, 4, ncclFloat32, ncclMax);
    pair.RequireBroken();
  }
  SECTION("another collective") {
    pair.Reduce(0, m, m + 32, 4);
    pair.Scatter(1, pair.memory[1], pair.memory[1] + 32, 4);
    pair.RequireBroken();
  }
}

TEST_CASE("The fake of NCCL splits communicators when all ranks have asked for it") {
  OnFakes fakes(2);
  Pair pair;
  ncclComm_t made[2] = {};
  CHECK(pair.nccl.ncclCommSplit(pair.members[0], -7, 0, &made[0], nullptr) == ncclInvalidArgument);
  CHECK(pair.nccl.ncclCommSplit(pair.members[0], 3, 5, &made[0], nullptr) == ncclInProgress);
  CHECK(pair.nccl.ncclCommSplit(pair.members[0], 3, 5, &made[0], nullptr) == ncclInvalidUsage);
  CHECK(pair.Gather(0, pair.memory[0], pair.memory[0] + 32, 4) == ncclInvalidUsage);
  ncclResult_t state = ncclSuccess;
  for (int asked = 0; asked < 9; ++asked) {
    pair.nccl.ncclCommGetAsyncError(pair.members[0], &state);
    CHECK(state == ncclInProgress);  // rank 1 has not come
  }
  CHECK(made[0] == nullptr);
  const bool alone = GENERATE(false, true);
  const int color = alone ? NCCL_SPLIT_NOCOLOR : 3;
  CHECK(pair.nccl.ncclCommSplit(pair.members[1], color, 4, &made[1], nullptr) == ncclInProgress);
  for (int rank : {0, 1}) CHECK(pair.StateOf(rank) == ncclSuccess);
  CHECK((made[0] != nullptr));
  CHECK((made[1] != nullptr) != alone);
  for (ncclComm_t communicator : made) {
    if (communicator != nullptr) pair.nccl.ncclCommAbort(communicator);
  }
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
