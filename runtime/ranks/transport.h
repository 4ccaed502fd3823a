// Bytes between the processes of one job, as an existing library carries them: MPI or gloo. Each is
// a transport, a shared object of its own (transports/) that is opened by name (open_transport.h),
// so that one command serves all launchers and none of them must be installed. Nothing but the
// standard library crosses the border to it.
//
//   std::unique_ptr<Transfer> transfer =
//       transport->Start(Channel::kData, {{1, kSend, bytes, 4096}, {1, kReceive, room, 4096}});
//   TransportError error = transfer->Wait();
//
// Threads: Start and Abort may be called by several threads at once; one transfer is waited for by
// one thread.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORT_H_
#define YUBA_RUNTIME_RANKS_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace yuba::runtime {

// Messages of different channels do not meet.
enum class Channel { kData, kControl };

enum class Direction { kSend, kReceive };

// A message between this rank and another one. Those of one rank to another on one channel are
// received in the order in which they were sent, and each must be received with the size that it
// was sent with, at least 1 byte.
struct Message {
  int peer = 0;  // a rank, not this one
  Direction direction = Direction::kSend;
  char* data = nullptr;  // stays until the transfer has ended; of what is sent only read
  int64_t bytes = 0;
};

// What went wrong; nothing where `what` is empty.
struct TransportError {
  std::string what;  // as the transport says it: "connection closed by peer"
  int peer = -1;     // the rank that does not answer any more; -1: it is not known which
  bool aborted = false;

  bool ok() const { return what.empty(); }
};

// Messages that were started together.
class Transfer {
 public:
  virtual ~Transfer() = default;  // after Wait

  // Blocks until all are received, and sent so that their bytes may be written again; or until one
  // has failed, or the channel is aborted. Once. A send may end only when it is received. After an
  // error the memory of receives stays until the process ends: MPI may still write to it.
  virtual TransportError Wait() = 0;

  // The peer of a message that is not through yet, as far as is known; -1: all are. From any
  // thread, also while another one waits. Blocks for nothing, also where the transport hangs.
  virtual int WaitsFor() const = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string Name() const = 0;  // "Open MPI 4.1.4", for people
  virtual int rank() const = 0;
  virtual int size() const = 0;  // ranks of the job

  // Starts to move all messages and waits for none of them. An error is Wait's.
  virtual std::unique_ptr<Transfer> Start(Channel channel,
                                          const std::vector<Message>& messages) = 0;

  // Ends all waits on the channel, now and later. Blocks for nothing.
  virtual void Abort(Channel channel) = 0;

  // All ranks call this once, last, where all is well: says goodbye as the transport wants it.
  // Without it the process must end by _Exit, as a transport's own end may wait for the others.
  virtual void Close() = 0;
};

struct TransportOptions {
  int rank = 0, size = 1;  // as the launcher says
  // Where ranks find each other; MPI knows. For gloo a folder that all ranks see, or torchrun's
  // store and a name of the job in it, "tcp://host:29500/name"; no other job uses it at the same
  // time, an earlier one may have.
  std::string meeting;
  std::string interface;  // of the network: "lo"; "": the transport's choice. MPI has variables
  double timeout_seconds = 60;  // for all ranks to come; MPI's launchers have their own
};

// Why there is no transport.
struct OpenError {
  std::string what;
  bool is_users = true;  // else other ranks do not come, or do not answer
};

// What a transport's shared object exports as kOpenTransport. Null where it fails; `error` says
// why.
using OpenTransportFunction = Transport*(const TransportOptions& options, OpenError& error);
constexpr char kOpenTransport[] = "YubaOpenTransport";

// And as kTransportName: "gloo 0.5.0". Starts nothing.
using TransportNameFunction = const char*();
constexpr char kTransportName[] = "YubaTransportName";

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORT_H_
