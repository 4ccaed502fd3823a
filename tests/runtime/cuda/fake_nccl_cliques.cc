#ifdef YUBA_WITH_CUDA
// Messages and collectives of the fake NCCL, matched and made. Sums are added up in an order that
// is not that of the ranks: around a ring, where NCCL's environment asks for one, which begins at
// another rank for each part; else in an order that the seed of the GPUs decides each time.
#include "tests/runtime/cuda/fake_nccl_cliques.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "tests/runtime/cuda/fake_streams.h"

namespace yuba::cuda {
namespace {

// In Wrapped sums and products are made: of integers it has no sign, so that they wrap.
template <typename T, typename Wrapped>
void Combine(ncclRedOp_t reducer, const char* from, char* to) {
  T a, b;
  std::memcpy(&a, to, sizeof a);
  std::memcpy(&b, from, sizeof b);
  const auto wrapped = [](T value) { return static_cast<Wrapped>(value); };
  // A NaN may be lost in max and min, as NCCL promises nothing.
  a = reducer == ncclSum    ? static_cast<T>(wrapped(a) + wrapped(b))
      : reducer == ncclProd ? static_cast<T>(wrapped(a) * wrapped(b))
      : reducer == ncclMax  ? std::max(a, b)
                            : std::min(a, b);
  std::memcpy(to, &a, sizeof a);
}

void CombineElement(ncclDataType_t type, ncclRedOp_t reducer, const char* from, char* to) {
  switch (type) {
    case ncclInt8: return Combine<int8_t, uint32_t>(reducer, from, to);
    case ncclUint8: return Combine<uint8_t, uint32_t>(reducer, from, to);
    case ncclInt32: return Combine<int32_t, uint32_t>(reducer, from, to);
    case ncclUint32: return Combine<uint32_t, uint32_t>(reducer, from, to);
    case ncclInt64: return Combine<int64_t, uint64_t>(reducer, from, to);
    case ncclUint64: return Combine<uint64_t, uint64_t>(reducer, from, to);
    case ncclFloat32: return Combine<float, float>(reducer, from, to);
    case ncclFloat64: return Combine<double, double>(reducer, from, to);
    default: return;
  }
}

// [step] the rank whose part comes next.
std::vector<int> OrderOf(int size, size_t part) {
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  const char* const algorithm = std::getenv("NCCL_ALGO");
  if (algorithm != nullptr && std::string(algorithm) == "Ring")
    std::rotate(order.begin(), order.begin() + (part + 1) % size, order.end());
  else
    std::shuffle(order.begin(), order.end(), Gpus().random);
  return order;
}

// The combination of elements [begin, begin + count) of all, in this order.
std::string Combined(const std::vector<Started>& calls, size_t begin, size_t count,
                     const std::vector<int>& order) {
  const AskedCall& first = calls[0]->asked;
  const size_t bytes = BytesOf(first.type);
  std::string result(calls[order[0]]->asked.from + begin * bytes, count * bytes);
  for (size_t next = 1; next < order.size(); ++next) {
    const char* const from = calls[order[next]]->asked.from + begin * bytes;
    for (size_t i = 0; i < count; ++i)
      CombineElement(first.type, first.reducer, from + i * bytes, &result[i * bytes]);
  }
  return result;
}

// calls: [rank]. All is read before anything is written, as calls may be in place.
void MakeCollective(const std::vector<Started>& calls) {
  const AskedCall& first = calls[0]->asked;
  const size_t bytes = first.count * BytesOf(first.type);
  const int size = static_cast<int>(calls.size());
  std::vector<std::string> results(calls.size());
  std::string all;
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    if (first.call == FakeCall::kAllGather) all.append(calls[rank]->asked.from, bytes);
    if (first.call == FakeCall::kReduceScatter)
      results[rank] = Combined(calls, rank * first.count, first.count, OrderOf(size, rank));
  }
  if (first.call == FakeCall::kAllReduce) {
    for (size_t part = 0; part < calls.size(); ++part) {
      const size_t begin = part * first.count / size, end = (part + 1) * first.count / size;
      all += Combined(calls, begin, end - begin, OrderOf(size, part));
    }
  }
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    const std::string& result = first.call == FakeCall::kReduceScatter ? results[rank] : all;
    std::memcpy(calls[rank]->asked.to, result.data(), result.size());
  }
}

void Begin(const std::vector<Started>& calls, std::function<void()> make) {
  const auto movement = std::make_shared<Movement>(Movement{std::move(make)});
  for (const Started& call : calls) call->movement = movement;
  if (Gpus().random() % 2 == 0) movement->Make();
}

void Break(const std::vector<Started>& calls) {
  for (const Started& call : calls) call->member->error = ncclInvalidUsage;
}

void MatchMessages(std::deque<Started>& sends, std::deque<Started>& receives) {
  while (!sends.empty() && !receives.empty()) {
    const Started send = sends.front(), receive = receives.front();
    sends.pop_front();
    receives.pop_front();
    const size_t bytes = send->asked.count * BytesOf(send->asked.type);
    if (bytes != receive->asked.count * BytesOf(receive->asked.type)) {
      Break({send, receive});
      continue;  // neither ever ends
    }
    Begin({send, receive},
          [send, receive, bytes] { std::memcpy(receive->asked.to, send->asked.from, bytes); });
  }
}

void MatchCollectives(Clique& clique) {
  std::vector<Started> calls;
  for (std::deque<Started>& own : clique.collectives) {
    if (own.empty()) return;
    calls.push_back(own.front());
  }
  for (std::deque<Started>& own : clique.collectives) own.pop_front();
  const AskedCall& first = calls[0]->asked;
  const bool alike = std::all_of(calls.begin(), calls.end(), [&](const Started& call) {
    const AskedCall& asked = call->asked;
    return asked.call == first.call && asked.count == first.count && asked.type == first.type &&
           (first.call == FakeCall::kAllGather || asked.reducer == first.reducer);
  });
  if (!alike) return Break(calls);  // none ever ends
  Begin(calls, [calls] { MakeCollective(calls); });
}

}  // namespace

size_t BytesOf(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    default: return 0;
  }
}

void StartCall(const Started& call) {
  const int rank = call->member->rank;
  Clique& clique = *call->member->clique;
  if (call->asked.call == FakeCall::kSend || call->asked.call == FakeCall::kReceive) {
    const bool send = call->asked.call == FakeCall::kSend;
    const auto ends =
        send ? std::make_pair(rank, call->asked.peer) : std::make_pair(call->asked.peer, rank);
    (send ? clique.sends : clique.receives)[ends].push_back(call);
    MatchMessages(clique.sends[ends], clique.receives[ends]);
    return;
  }
  clique.collectives.resize(clique.size);
  clique.collectives[rank].push_back(call);
  MatchCollectives(clique);
}

void ForgetCallsOf(const std::shared_ptr<Member>& member) {
  const auto forget = [&](std::deque<Started>& calls) {
    calls.erase(std::remove_if(calls.begin(), calls.end(),
                               [&](const Started& call) { return call->member == member; }),
                calls.end());
  };
  for (auto& [ends, calls] : member->clique->sends) forget(calls);
  for (auto& [ends, calls] : member->clique->receives) forget(calls);
  for (std::deque<Started>& calls : member->clique->collectives) forget(calls);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
