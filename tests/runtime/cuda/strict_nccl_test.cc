// What the strict NCCL refuses, and that devices of one GPU gather through it.

#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/strict_nccl.h"

#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

// A communicator of two members on one GPU, each with a stream.
struct Pair {
  Pair() {
    const int gpus[] = {0, 0};
    REQUIRE(nccl.ncclCommInitAll(communicators, 2, gpus) == ncclSuccess);
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, 0);
  }
  ~Pair() {
    for (ncclComm_t communicator : communicators) nccl.ncclCommAbort(communicator);
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  }
  ncclResult_t Gather(int rank, size_t count = 4, ncclDataType_t type = ncclInt8) {
    return nccl.ncclAllGather(memory, memory, count, type, communicators[rank], streams[rank]);
  }

  const Nccl& nccl = StrictNccl();
  ncclComm_t communicators[2] = {};
  cudaStream_t streams[2] = {};
  char memory[64] = {};
};

TEST_CASE("Groups of calls are complete, and the members' calls are alike") {
  OnFakes fakes(1);
  Pair pair;
  const Nccl& nccl = pair.nccl;
  CHECK(pair.Gather(0) == ncclInvalidUsage);  // outside of a group it would wait for ever
  CHECK(nccl.ncclGroupEnd() == ncclInvalidUsage);

  nccl.ncclGroupStart();
  pair.Gather(0);
  CHECK(nccl.ncclGroupEnd() == ncclInvalidUsage);  // member 1 is missing
  nccl.ncclGroupStart();
  for (int rank : {0, 1, 0}) pair.Gather(rank);
  CHECK(nccl.ncclGroupEnd() == ncclInvalidUsage);
  nccl.ncclGroupStart();
  pair.Gather(0, 4);
  pair.Gather(1, 8);
  CHECK(nccl.ncclGroupEnd() == ncclInvalidArgument);
  nccl.ncclGroupStart();
  pair.Gather(0, 4, ncclInt8);
  pair.Gather(1, 4, ncclFloat32);
  CHECK(nccl.ncclGroupEnd() == ncclInvalidArgument);

  nccl.ncclGroupStart();  // groups in a group are one
  nccl.ncclGroupStart();
  pair.Gather(0);
  CHECK(nccl.ncclGroupEnd() == ncclSuccess);
  pair.Gather(1);
  CHECK(nccl.ncclGroupEnd() == ncclSuccess);
}

TEST_CASE("Virtual devices gather by calls of NCCL, the strict one") {
  const int64_t length = 12;
  std::vector<float> expected = WholeNumbers(length);
  for (float& value : expected) value *= 81;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    OnFakes fakes(1);
    Fake().seed = seed;
    runtime::RunOptions options = OnCuda(seed % 2 == 0, seed);
    options.cuda.nccl = NcclChoice::kStrict;
    auto session = runtime::OpenSession(Tripled(length).Load(), options);
    REQUIRE_THAT(session->Set("x", runtime::FloatTensor({length}, WholeNumbers(length))), IsOk());
    const int64_t opened = Fake().copies;
    REQUIRE_THAT(session->Step(), IsOk());
    CHECK(runtime::FloatsOf(*session->Get("tripled")) == expected);
    CHECK(Fake().copies - opened >= 4 * 3 * 3);  // each member's copies, in each of four gathers
  }
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
