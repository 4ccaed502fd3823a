// The ranks of the fake NCCL's communicators, and what they have started and wait for. All of it is
// guarded by the machine's mutex (fake_streams.h).
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_NCCL_CLIQUES_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_NCCL_CLIQUES_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/cuda/libraries.h"

namespace yuba::cuda {

struct Member;

enum class FakeCall { kSend, kReceive, kAllGather, kReduceScatter, kAllReduce };

// A call as it was asked for.
struct AskedCall {
  ncclComm_t communicator = nullptr;
  FakeCall call = FakeCall::kSend;
  char* from = nullptr;  // null of a receive
  char* to = nullptr;    // null of a send
  size_t count = 0;      // of elements, as NCCL has it
  ncclDataType_t type = ncclUint8;
  ncclRedOp_t reducer = ncclSum;
  int peer = -1;
  cudaStream_t stream = nullptr;
};
// Of an element; 0: the fake does not know the type.
size_t BytesOf(ncclDataType_t type);

// What moves once all that take part have started it, and has ended for all of them then.
struct Movement {
  std::function<void()> make;
  bool made = false;

  void Make() {
    if (!made) make();
    made = true;
  }
};
// A call that a member's stream has come to.
struct StartedCall {
  std::shared_ptr<Member> member;
  AskedCall asked;
  std::shared_ptr<Movement> movement;  // null until all others are there
};
using Started = std::shared_ptr<StartedCall>;

// The ranks of a communicator together.
struct Clique {
  int size = 0, joined = 0;
  std::set<int> gpus;
  // Of messages from one rank to another, what has no partner yet.
  std::map<std::pair<int, int>, std::deque<Started>> sends, receives;
  // [rank] collectives that not all ranks have come to.
  std::vector<std::deque<Started>> collectives;
  // By how many splits each rank has asked for before: of each that has asked, by color, the key,
  // its rank, and its member of the new communicator, null without a color.
  struct Split {
    std::map<int, std::set<std::pair<int, int>>> places;  // by color: key and rank
    std::map<int, std::shared_ptr<Clique>> cliques;       // by color
    int asked = 0;
  };
  std::map<int, Split> splits;
};

// What was started at once, with all communicators that are in it. It is put on the stream when
// each of these has been asked for its state often enough.
struct AskedGroup {
  std::vector<AskedCall> calls;
  std::set<const Member*> not_asked;
  bool on_stream = false;
};
// A split that has not come to its end.
struct AskedSplit {
  int number = 0, color = 0, key = 0;
  ncclComm_t* result = nullptr;
};

// One rank of it.
struct Member {
  std::shared_ptr<Clique> clique;
  int rank = 0, gpu = 0;
  bool aborted = false, finalized = false;
  ncclResult_t error = ncclSuccess;
  int asked = 0;   // since its last call
  int splits = 0;  // that it has asked for
  // What it is at: at most one of them.
  std::shared_ptr<AskedGroup> group;
  std::unique_ptr<AskedSplit> split;
};

// Joins the others of its communicator: where all are there, what they have started is a movement.
// Messages are matched strictly by order and size, and collectives by order, kind, count, type and
// reducer; what does not match breaks all of them.
void StartCall(const Started& call);

// What it has started and others wait for never comes.
void ForgetCallsOf(const std::shared_ptr<Member>& member);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_NCCL_CLIQUES_H_
