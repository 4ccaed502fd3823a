#ifdef YUBA_WITH_CUDA
// NCCL on the fake GPUs, whose ranks are threads here. Calls are checked, and come to an end only
// when all of their communicators have been asked several times; what they move is moved at some
// time between the beginning and the end of all that take part.
//
// Refused are two ranks on one GPU, calls outside of a group, of nothing, of types or reducers that
// are none, messages to oneself, memory that is not the GPU's, results over what others give but
// where NCCL wants them for a call in place, groups on several streams, and any call of a
// communicator that has not come to the end of its last one. What ranks ask for that does not fit
// together breaks their communicators (fake_nccl_cliques.h).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/runtime/cuda/fake_cuda.h"
#include "tests/runtime/cuda/fake_libraries.h"
#include "tests/runtime/cuda/fake_nccl_cliques.h"
#include "tests/runtime/cuda/fake_streams.h"

namespace yuba::cuda {
namespace {

// What a ncclComm_t points to.
struct Handle {
  std::shared_ptr<Member> member;
};
const std::shared_ptr<Member>& Of(ncclComm_t communicator) {
  return reinterpret_cast<Handle*>(communicator)->member;
}

// Of the calling thread.
thread_local int depth = 0;
thread_local std::vector<AskedCall> asked_in_group;

// All below are called with the machine's mutex held, unless they take it.
std::map<int, std::shared_ptr<Clique>>& Cliques() {
  static auto& cliques = *new std::map<int, std::shared_ptr<Clique>>;
  return cliques;
}

ncclComm_t NewHandle(std::shared_ptr<Member> member) {
  ++Fake().members;
  return reinterpret_cast<ncclComm_t>(new Handle{std::move(member)});
}
void Free(ncclComm_t communicator) {
  delete reinterpret_cast<Handle*>(communicator);
  --Fake().members;
}

bool IsBusy(const Member& member) {
  return member.group != nullptr || member.split != nullptr || member.finalized ||
         member.clique->joined < member.clique->size;
}

bool IsMemoryOf(int gpu, const char* data, size_t bytes) {
  for (const auto& [start, gpu_and_bytes] : Gpus().memory) {
    const auto* const begin = static_cast<const char*>(start);
    if (gpu_and_bytes.first == gpu && data >= begin && data + bytes <= begin + gpu_and_bytes.second)
      return true;
  }
  return false;
}

// What a call reads and writes.
struct Sides {
  size_t from = 0, to = 0;  // bytes
  const char* in_place = nullptr;
};
Sides SidesOf(const AskedCall& asked, const Member& member) {
  const size_t bytes = asked.count * BytesOf(asked.type);
  const size_t all = bytes * member.clique->size;
  switch (asked.call) {
    case FakeCall::kSend: return {bytes, 0, nullptr};
    case FakeCall::kReceive: return {0, bytes, nullptr};
    case FakeCall::kAllGather: return {bytes, all, asked.to + member.rank * bytes};
    case FakeCall::kReduceScatter: return {all, bytes, asked.to - member.rank * bytes};
    case FakeCall::kAllReduce: return {bytes, bytes, asked.to};
  }
  return {};
}

ncclResult_t CheckCall(const AskedCall& asked) {
  const Member& member = *Of(asked.communicator);
  if (IsBusy(member) || member.error != ncclSuccess) return ncclInvalidUsage;
  const bool message = asked.call == FakeCall::kSend || asked.call == FakeCall::kReceive;
  const bool peer =
      asked.peer >= 0 && asked.peer < member.clique->size && asked.peer != member.rank;
  const bool reducer = asked.reducer >= ncclSum && asked.reducer <= ncclMin;
  const Sides sides = SidesOf(asked, member);
  if (asked.count == 0 || BytesOf(asked.type) == 0 || !reducer || message != peer ||
      asked.stream->gpu != member.gpu ||
      (sides.from > 0 && !IsMemoryOf(member.gpu, asked.from, sides.from)) ||
      (sides.to > 0 && !IsMemoryOf(member.gpu, asked.to, sides.to))) {
    return ncclInvalidArgument;
  }
  if (message || asked.from == sides.in_place) return ncclSuccess;
  const bool apart = asked.from + sides.from <= asked.to || asked.to + sides.to <= asked.from;
  return apart ? ncclSuccess : ncclInvalidArgument;
}

// What calls of one group write none of the others may use.
bool InEachOthersWay(const AskedCall& a, const AskedCall& b) {
  const Sides of_a = SidesOf(a, *Of(a.communicator)), of_b = SidesOf(b, *Of(b.communicator));
  const auto meet = [](const char* x, size_t x_bytes, const char* y, size_t y_bytes) {
    return x_bytes > 0 && y_bytes > 0 && x < y + y_bytes && y < x + x_bytes;
  };
  return meet(a.to, of_a.to, b.to, of_b.to) || meet(a.to, of_a.to, b.from, of_b.from);
}

ncclResult_t CheckGroup(const std::vector<AskedCall>& calls) {
  for (const AskedCall& call : calls) {
    if (call.stream != calls[0].stream) return ncclInvalidUsage;
    const ncclResult_t checked = CheckCall(call);
    if (checked != ncclSuccess) return checked;
    for (const AskedCall& other : calls) {
      if (&other != &call && InEachOthersWay(call, other)) return ncclInvalidUsage;
    }
  }
  return ncclSuccess;
}

void CountCall(const AskedCall& asked) {
  Fake().all_gathers += asked.call == FakeCall::kAllGather;
  Fake().reduce_scatters += asked.call == FakeCall::kReduceScatter;
  Fake().all_reduces += asked.call == FakeCall::kAllReduce;
}

// Two entries of the stream: the calls are started; all of them have ended. Both may be part of a
// graph, which starts them again and again.
void PutOnStream(AskedGroup& group) {
  std::vector<std::pair<std::shared_ptr<Member>, AskedCall>> calls;
  for (const AskedCall& call : group.calls) calls.emplace_back(Of(call.communicator), call);
  const auto started = std::make_shared<std::vector<Started>>();
  const auto start = [calls, started] {
    started->clear();
    for (const auto& [member, asked] : calls) {
      if (member->aborted) continue;
      started->push_back(std::make_shared<StartedCall>(StartedCall{member, asked, nullptr}));
      StartCall(started->back());
    }
  };
  const auto all_moved = [started] {
    return std::all_of(started->begin(), started->end(), [](const Started& call) {
      return call->movement != nullptr || call->member->aborted;
    });
  };
  const auto end = [started] {
    for (const Started& call : *started) {
      if (call->movement != nullptr) call->movement->Make();
    }
    started->clear();
  };
  const cudaStream_t stream = calls[0].second.stream;
  if (Enqueue(stream, start) != cudaSuccess ||
      Enqueue(stream, end, all_moved, true) != cudaSuccess) {
    calls[0].first->error = ncclUnhandledCudaError;
  }
  for (const AskedCall& call : group.calls) CountCall(call);
  ++Fake().groups;
  group.on_stream = true;
}

// Once all ranks have asked for the split: gives the member of the new communicator its place.
bool EndSplit(Member& member) {
  const AskedSplit& asked = *member.split;
  Clique::Split& split = member.clique->splits[asked.number];
  if (split.asked < member.clique->size) return false;
  if (asked.color != NCCL_SPLIT_NOCOLOR) {
    const auto& places = split.places[asked.color];
    auto made = std::make_shared<Member>();
    made->clique = split.cliques[asked.color];
    made->clique->size = static_cast<int>(places.size());
    ++made->clique->joined;
    made->rank =
        static_cast<int>(std::distance(places.begin(), places.find({asked.key, member.rank})));
    made->gpu = member.gpu;
    *asked.result = NewHandle(std::move(made));
  }
  member.split = nullptr;
  return true;
}

ncclResult_t StateOfMember(Member& member) {
  if (Fake().nccl == FakeCuda::kFailsLater) return ncclRemoteError;
  if (member.error != ncclSuccess) return member.error;
  if (Fake().nccl == FakeCuda::kBlocksUntilAbort) return ncclInProgress;
  if (member.clique->joined < member.clique->size) return ncclInProgress;
  if (++member.asked < Fake().nccl_polls) return ncclInProgress;
  if (member.split != nullptr && !EndSplit(member)) return ncclInProgress;
  if (member.group != nullptr) {
    member.group->not_asked.erase(&member);
    if (!member.group->not_asked.empty()) return ncclInProgress;
    if (!member.group->on_stream) PutOnStream(*member.group);
    member.group = nullptr;
  }
  return member.error;
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
  *communicator = NewHandle(std::move(member));
  return ncclInProgress;
}

// The new communicator is there when this one has come to the end of it.
ncclResult_t Split(ncclComm_t communicator, int color, int key, ncclComm_t* result,
                   ncclConfig_t* config) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  Member& member = *Of(communicator);
  if (IsBusy(member) || (config != nullptr && config->blocking != 0)) return ncclInvalidUsage;
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR) return ncclInvalidArgument;
  *result = nullptr;
  member.asked = 0;
  member.split.reset(new AskedSplit{member.splits++, color, key, result});
  Clique::Split& split = member.clique->splits[member.split->number];
  ++split.asked;
  split.places[color].insert({key, member.rank});
  std::shared_ptr<Clique>& made = split.cliques[color];
  if (made == nullptr) made = std::make_shared<Clique>();
  made->size = static_cast<int>(split.places[color].size());
  ++Fake().splits;
  return ncclInProgress;
}

ncclResult_t Abort(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  Of(communicator)->aborted = true;
  ForgetCallsOf(Of(communicator));
  ++Fake().aborts;
  Free(communicator);
  return ncclSuccess;
}

ncclResult_t State(ncclComm_t communicator, ncclResult_t* state) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  *state = StateOfMember(*Of(communicator));
  return ncclSuccess;
}

ncclResult_t Finalize(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  Member& member = *Of(communicator);
  if (IsBusy(member)) return ncclInvalidUsage;
  member.finalized = true;
  member.asked = 0;
  return ncclInProgress;
}

ncclResult_t Destroy(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (!Of(communicator)->finalized) return ncclInvalidUsage;
  Free(communicator);
  return ncclSuccess;
}

ncclResult_t Ask(const AskedCall& asked) {
  if (depth == 0) return ncclInvalidUsage;
  asked_in_group.push_back(asked);
  return ncclInProgress;
}
char* Bytes(const void* data) { return static_cast<char*>(const_cast<void*>(data)); }

ncclResult_t Send(const void* data, size_t count, ncclDataType_t type, int peer,
                  ncclComm_t communicator, cudaStream_t stream) {
  return Ask(
      {communicator, FakeCall::kSend, Bytes(data), nullptr, count, type, ncclSum, peer, stream});
}
ncclResult_t Receive(void* data, size_t count, ncclDataType_t type, int peer,
                     ncclComm_t communicator, cudaStream_t stream) {
  return Ask(
      {communicator, FakeCall::kReceive, nullptr, Bytes(data), count, type, ncclSum, peer, stream});
}
ncclResult_t AllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                       ncclComm_t communicator, cudaStream_t stream) {
  return Ask({communicator, FakeCall::kAllGather, Bytes(from), Bytes(to), count, type, ncclSum, -1,
              stream});
}
ncclResult_t ReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t reducer, ncclComm_t communicator, cudaStream_t stream) {
  return Ask({communicator, FakeCall::kReduceScatter, Bytes(from), Bytes(to), count, type, reducer,
              -1, stream});
}
ncclResult_t AllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                       ncclRedOp_t reducer, ncclComm_t communicator, cudaStream_t stream) {
  return Ask({communicator, FakeCall::kAllReduce, Bytes(from), Bytes(to), count, type, reducer, -1,
              stream});
}

ncclResult_t StartGroup() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t EndGroup() {
  if (depth == 0) return ncclInvalidUsage;
  if (--depth > 0 || asked_in_group.empty()) return ncclSuccess;
  const auto group = std::make_shared<AskedGroup>();
  group->calls = std::exchange(asked_in_group, {});
  const std::lock_guard<std::mutex> lock(Gpus().mutex);
  const ncclResult_t checked = CheckGroup(group->calls);
  if (checked != ncclSuccess) return checked;
  for (const AskedCall& call : group->calls) {
    Member& member = *Of(call.communicator);
    member.asked = 0;
    member.group = group;
    group->not_asked.insert(&member);
  }
  return ncclInProgress;
}

ncclResult_t Version(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ErrorString(ncclResult_t) { return "an error of the fake NCCL"; }
const char* LastError(ncclComm_t) { return "the fake NCCL says no"; }

}  // namespace

void FakeNccl(Nccl& nccl) {
  nccl.ncclGetVersion = Version;
  nccl.ncclGetErrorString = ErrorString;
  nccl.ncclGetLastError = LastError;
  nccl.ncclGetUniqueId = GetUniqueId;
  nccl.ncclCommInitRankConfig = InitRank;
  nccl.ncclCommSplit = Split;
  nccl.ncclCommFinalize = Finalize;
  nccl.ncclCommDestroy = Destroy;
  nccl.ncclCommAbort = Abort;
  nccl.ncclCommGetAsyncError = State;
  nccl.ncclGroupStart = StartGroup;
  nccl.ncclGroupEnd = EndGroup;
  nccl.ncclAllGather = AllGather;
  nccl.ncclReduceScatter = ReduceScatter;
  nccl.ncclAllReduce = AllReduce;
  nccl.ncclSend = Send;
  nccl.ncclRecv = Receive;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
