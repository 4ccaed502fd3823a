// Ranks of one process, whose messages go through its memory, and what may happen to them.
//
//   LocalNetwork network(3);
//   std::unique_ptr<Transport> transport = network.Open(1);   // used in a thread of its own
//   network.Drop(2);
//
// Threads: all functions may be called by any thread. The network outlives the transports.
#ifndef YUBA_TESTS_RUNTIME_RANKS_LOCAL_TRANSPORT_H_
#define YUBA_TESTS_RUNTIME_RANKS_LOCAL_TRANSPORT_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "opsemantics/base/clock.h"
#include "runtime/ranks/transport.h"

namespace yuba::runtime {

class LocalNetwork {
 public:
  explicit LocalNetwork(int size) : size_(size) {}
  LocalNetwork(const LocalNetwork&) = delete;

  std::unique_ptr<Transport> Open(int rank);

  // All connections of the rank are closed, as when its process has ended.
  void Drop(int rank);
  // Nothing that it sends arrives any more, as when it is stopped; it does not know.
  void Silence(int rank);
  // What it sends arrives so much later, and one message behind the other.
  void Delay(int rank, double seconds);
  // A message is sent when it is received, as long ones are; else when it has been copied.
  void SetRendezvous(bool rendezvous);

  // Its aborts do nothing, and its goodbye never ends: a transport that hangs. What waits in it
  // then waits for ever, so the network must never end.
  void Deafen(int rank);

  bool IsClosed(int rank) const;  // by Transport::Close

 private:
  friend class LocalTransport;
  friend class LocalTransfer;
  using Line = std::tuple<Channel, int, int>;  // channel, from, to
  struct Letter {
    std::string bytes;
    Clock::time_point arrives;
  };
  struct Traffic {
    int64_t sent = 0, awaited = 0;      // letters so far
    std::map<int64_t, Letter> letters;  // by number; under way, or there
    std::set<int64_t> taken;
  };

  const int size_;
  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::map<Line, Traffic> lines_;
  std::set<int> dropped_, silent_, deaf_, closed_;
  std::set<std::pair<int, Channel>> aborted_;
  std::map<int, double> delays_;
  bool rendezvous_ = false;
};

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_RANKS_LOCAL_TRANSPORT_H_
