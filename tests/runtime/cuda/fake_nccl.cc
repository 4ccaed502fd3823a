#ifdef YUBA_WITH_CUDA
// NCCL's communicators of ranks, which are threads here, on the fake GPUs. Calls are checked, and
// come to an end only when their communicator has been asked several times; messages are matched
// strictly by order and size, and moved at some time between their start and their end.
//
// Refused are two ranks on one GPU, messages outside of a group, of no bytes, to oneself, of memory
// that is not the GPU's, and groups on several streams; a message that is received with another
// size than it was sent with breaks both communicators.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "runtime/cuda/strict_nccl.h"
#include "tests/runtime/cuda/fake_cuda.h"
#include "tests/runtime/cuda/fake_libraries.h"
#include "tests/runtime/cuda/fake_streams.h"

namespace yuba::cuda {
namespace {

// Bytes on their way from one message to the other.
struct Move {
  char* from;
  char* to;
  size_t bytes;
  bool made = false;

  void Make() {
    if (!made) std::memcpy(to, from, bytes);
    made = true;
  }
};
struct Member;
struct Message {
  std::shared_ptr<Member> member;
  char* data;
  size_t bytes;
  std::shared_ptr<Move> move;  // null until its partner is there
};

// What was started of the messages of one rank to another, and has no partner yet.
struct Line {
  std::deque<std::shared_ptr<Message>> sends, receives;
};
// The ranks of a communicator together.
struct Clique {
  int size = 0, joined = 0;
  std::set<int> gpus;
  std::map<std::pair<int, int>, Line> lines;  // by sender and receiver
};

// One rank of it. All that is here is guarded by the machine's mutex.
struct Member {
  std::shared_ptr<Clique> clique;
  int rank = 0, gpu = 0;
  bool aborted = false, finalized = false;
  ncclResult_t error = ncclSuccess;
  int asked = 0;                           // since its last call
  std::vector<std::function<void()>> due;  // its call, until it has been asked often enough
};
// What a ncclComm_t points to.
struct Handle {
  std::shared_ptr<Member> member;
};
Handle& Of(ncclComm_t communicator) { return *reinterpret_cast<Handle*>(communicator); }

struct Asked {
  ncclComm_t communicator;
  bool send;
  char* data;
  size_t bytes;
  int peer;
  cudaStream_t stream;
};
// Of the calling thread.
thread_local int depth = 0;
thread_local std::vector<Asked> asked_in_group;

// All below are called with the machine's mutex held, unless they take it.
std::map<int, std::shared_ptr<Clique>>& Cliques() {
  static auto& cliques = *new std::map<int, std::shared_ptr<Clique>>;
  return cliques;
}
std::set<ncclComm_t>& Handles() {
  static auto& handles = *new std::set<ncclComm_t>;
  return handles;
}

void Match(Line& line) {
  while (!line.sends.empty() && !line.receives.empty()) {
    const std::shared_ptr<Message> send = line.sends.front(), receive = line.receives.front();
    line.sends.pop_front();
    line.receives.pop_front();
    if (send->bytes != receive->bytes) {
      send->member->error = receive->member->error = ncclInvalidUsage;
      continue;  // neither ever ends
    }
    send->move = receive->move =
        std::make_shared<Move>(Move{send->data, receive->data, send->bytes});
    if (Gpus().random() % 2 == 0) send->move->Make();
  }
}

bool IsMemoryOf(int gpu, const char* data, size_t bytes) {
  for (const auto& [start, gpu_and_bytes] : Gpus().memory) {
    const auto* const begin = static_cast<const char*>(start);
    if (gpu_and_bytes.first == gpu && data >= begin && data + bytes <= begin + gpu_and_bytes.second)
      return true;
  }
  return false;
}

ncclResult_t CheckGroup(const std::vector<Asked>& messages) {
  const Member& member = *Of(messages[0].communicator).member;
  if (!member.due.empty() || member.clique->joined < member.clique->size || member.finalized)
    return ncclInvalidUsage;  // it has not come to the end of its last call
  for (const Asked& message : messages) {
    if (message.communicator != messages[0].communicator || message.stream != messages[0].stream)
      return ncclInvalidUsage;
    if (message.peer < 0 || message.peer >= member.clique->size || message.peer == member.rank ||
        message.bytes == 0 || message.stream->gpu != member.gpu ||
        !IsMemoryOf(member.gpu, message.data, message.bytes)) {
      return ncclInvalidArgument;
    }
  }
  return ncclSuccess;
}

// Two entries of the stream: the messages are started; all of them have ended. Both may be part of
// a graph, which starts them again and again.
void PutOnStream(const std::shared_ptr<Member>& member, const std::vector<Asked>& messages) {
  const auto started = std::make_shared<std::vector<std::shared_ptr<Message>>>();
  const auto start = [member, messages, started] {
    started->clear();
    if (member->aborted) return;
    for (const Asked& message : messages) {
      started->push_back(
          std::make_shared<Message>(Message{member, message.data, message.bytes, nullptr}));
      const auto ends = message.send ? std::make_pair(member->rank, message.peer)
                                     : std::make_pair(message.peer, member->rank);
      Line& line = member->clique->lines[ends];
      (message.send ? line.sends : line.receives).push_back(started->back());
      Match(line);
    }
  };
  const auto all_moved = [member, started] {
    for (const auto& message : *started) {
      if (message->move == nullptr && !member->aborted) return false;
    }
    return true;
  };
  const auto end = [started] {
    for (const auto& message : *started) {
      if (message->move != nullptr) message->move->Make();
    }
    started->clear();
  };
  const cudaStream_t stream = messages[0].stream;
  if (Enqueue(stream, start) != cudaSuccess ||
      Enqueue(stream, end, all_moved, true) != cudaSuccess) {
    member->error = ncclUnhandledCudaError;
  }
  ++Fake().groups;
}

ncclResult_t GetUniqueId(ncclUniqueId* id) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  static int last = 0;
  ++last;
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, &last, sizeof last);
  Cliques()[last] = std::make_shared<Clique>();
  return ncclSuccess;
}

ncclResult_t InitRank(ncclComm_t* communicator, int size, ncclUniqueId id, int rank,
                      ncclConfig_t* config) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  const auto found = Cliques().find(number);
  if (config->blocking != 0 || found == Cliques().end()) return ncclInvalidArgument;
  Clique& clique = *found->second;
  auto member = std::make_shared<Member>();
  member->clique = found->second;
  member->rank = rank;
  member->gpu = current;
  const bool alone = clique.gpus.insert(current).second;
  if (!alone && std::getenv("NCCL_HOSTID") == nullptr) member->error = ncclInvalidUsage;
  clique.size = size;
  ++clique.joined;
  ++Fake().members;
  *communicator = reinterpret_cast<ncclComm_t>(new Handle{std::move(member)});
  Handles().insert(*communicator);
  return ncclInProgress;
}

// What it has started and has no partner yet never has one.
void Forget(const std::shared_ptr<Member>& member) {
  for (auto& [ends, line] : member->clique->lines) {
    for (auto* const messages : {&line.sends, &line.receives}) {
      messages->erase(
          std::remove_if(messages->begin(), messages->end(),
                         [&](const auto& message) { return message->member == member; }),
          messages->end());
    }
  }
}

void Free(ncclComm_t communicator) {
  Handles().erase(communicator);
  delete &Of(communicator);
  --Fake().members;
}

ncclResult_t StateOfMember(Member& member) {
  if (Fake().nccl == FakeCuda::kFailsLater) return ncclRemoteError;
  if (member.error != ncclSuccess) return member.error;
  if (Fake().nccl == FakeCuda::kBlocksUntilAbort) return ncclInProgress;
  if (member.clique->joined < member.clique->size) return ncclInProgress;
  if (++member.asked < Fake().nccl_polls) return ncclInProgress;
  for (const auto& run : member.due) run();
  member.due.clear();
  return member.error;
}

// Of one process with several GPUs, in the table before.
decltype(&ncclCommAbort) abort_of_process = nullptr;
decltype(&ncclCommGetAsyncError) state_of_process = nullptr;
decltype(&ncclGroupStart) start_of_process = nullptr;
decltype(&ncclGroupEnd) end_of_process = nullptr;

bool IsOfRanks(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  return Handles().count(communicator) != 0;
}

ncclResult_t Abort(ncclComm_t communicator) {
  if (!IsOfRanks(communicator)) return abort_of_process(communicator);
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  Of(communicator).member->aborted = true;
  Forget(Of(communicator).member);
  ++Fake().aborts;
  Free(communicator);
  return ncclSuccess;
}

ncclResult_t State(ncclComm_t communicator, ncclResult_t* state) {
  if (!IsOfRanks(communicator)) return state_of_process(communicator, state);
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  *state = StateOfMember(*Of(communicator).member);
  return ncclSuccess;
}

ncclResult_t Finalize(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  Member& member = *Of(communicator).member;
  if (!member.due.empty() || member.finalized) return ncclInvalidUsage;
  member.finalized = true;
  member.asked = 0;
  return ncclInProgress;
}

ncclResult_t Destroy(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (!Of(communicator).member->finalized) return ncclInvalidUsage;
  Free(communicator);
  return ncclSuccess;
}

ncclResult_t Ask(bool send, const void* data, size_t count, ncclDataType_t type, int peer,
                 ncclComm_t communicator, cudaStream_t stream) {
  if (depth == 0) return ncclInvalidUsage;
  if (type != ncclUint8 && type != ncclInt8) return ncclInvalidArgument;
  auto* const bytes = static_cast<char*>(const_cast<void*>(data));
  asked_in_group.push_back({communicator, send, bytes, count, peer, stream});
  return ncclInProgress;
}
ncclResult_t Send(const void* data, size_t count, ncclDataType_t type, int peer,
                  ncclComm_t communicator, cudaStream_t stream) {
  return Ask(true, data, count, type, peer, communicator, stream);
}
ncclResult_t Receive(void* data, size_t count, ncclDataType_t type, int peer,
                     ncclComm_t communicator, cudaStream_t stream) {
  return Ask(false, data, count, type, peer, communicator, stream);
}

ncclResult_t StartGroup() {
  ++depth;
  return start_of_process();
}

ncclResult_t EndGroup() {
  if (depth > 0) --depth;
  if (depth > 0 || asked_in_group.empty()) return end_of_process();
  const std::vector<Asked> messages = std::exchange(asked_in_group, {});
  StrictNccl().ncclGroupEnd();  // which was given nothing
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  const ncclResult_t checked = CheckGroup(messages);
  if (checked != ncclSuccess) return checked;
  const std::shared_ptr<Member> member = Of(messages[0].communicator).member;
  member->asked = 0;
  member->due.push_back([member, messages] { PutOnStream(member, messages); });
  return ncclInProgress;
}

const char* LastError(ncclComm_t) { return "the fake NCCL says no"; }

}  // namespace

void FakeNcclOfRanks(Nccl& nccl) {
  abort_of_process = nccl.ncclCommAbort;
  state_of_process = nccl.ncclCommGetAsyncError;
  start_of_process = nccl.ncclGroupStart;
  end_of_process = nccl.ncclGroupEnd;
  nccl.ncclGetLastError = LastError;
  nccl.ncclGetUniqueId = GetUniqueId;
  nccl.ncclCommInitRankConfig = InitRank;
  nccl.ncclCommFinalize = Finalize;
  nccl.ncclCommDestroy = Destroy;
  nccl.ncclCommAbort = Abort;
  nccl.ncclCommGetAsyncError = State;
  nccl.ncclGroupStart = StartGroup;
  nccl.ncclGroupEnd = EndGroup;
  nccl.ncclSend = Send;
  nccl.ncclRecv = Receive;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
