// The connections of one channel, one to each other rank, over gloo's TCP. Each is a gloo context
// of its own with two ranks: where a wait runs out of time, gloo closes all connections of the
// context, and this must be no more than one.
//
// Threads: as its members say.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_GLOO_CHANNEL_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_GLOO_CHANNEL_H_

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ranks/transport.h"

namespace yuba::runtime {

constexpr std::chrono::milliseconds kForEver = std::chrono::hours(24 * 365 * 10);

// What gloo says without the place in its source: "Connection closed by peer [127.0.0.1]:4711".
std::string PlainWords(const std::exception& problem);

struct GlooConnection {
  std::shared_ptr<gloo::transport::Context> context;  // null for this rank itself
  int own = 0, other = 1;                             // the ranks in it
  uint64_t sent = 0, received = 0;                    // messages; under the channel's `order`
  // A receive that nothing is ever sent to: it fails when the connection does. gloo does not tell
  // those that wait for a message of which a part has come already.
  std::unique_ptr<gloo::transport::UnboundBuffer> watch;
  char watched = 0;
  std::string lost;  // why it is closed; under the channel's mutex
};

class GlooChannel {
 public:
  using Buffer = gloo::transport::UnboundBuffer;
  struct Awaited {
    Buffer* buffer;
    Direction direction;
    bool operator<(const Awaited& other) const { return buffer < other.buffer; }
  };

  GlooChannel(int rank, int size, const std::string& interface, double timeout_seconds);

  // One line: where each other rank finds this one.
  std::string Card() const;
  // Connects to all, whose words (Meeting) each side shows the other. An error names the rank.
  TransportError Connect(const std::vector<std::string>& cards,
                         const std::vector<std::string>& words);

  // Starts a piece of a message. Throws what gloo throws. Hold `order` for all pieces of a
  // transfer.
  std::unique_ptr<Buffer> Start(int peer, Direction direction, char* data, int64_t bytes);
  std::mutex order;

  // Around each wait for a buffer: kWait where it may be waited for, and is then woken by what
  // changes that; kLoss where connections were lost that `losses` does not count yet.
  enum class Next { kWait, kLoss, kAborted };
  Next Begin(const Awaited& awaited, uint64_t& losses);
  void End(const Awaited& awaited);

  std::string LossOf(int peer);  // "": it is there
  void FindLosses();             // one thread calls it now and then
  void Abort();

 private:
  void WakeAll();

  int rank_;
  double timeout_seconds_;
  std::shared_ptr<gloo::transport::Device> device_;
  std::vector<GlooConnection> connections_;  // [rank]
  std::mutex mutex_;
  bool aborted_ = false;  // this and below under mutex_
  uint64_t losses_ = 0;   // connections that were lost
  std::set<Awaited> awaited_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_GLOO_CHANNEL_H_
