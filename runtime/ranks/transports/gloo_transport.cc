// gloo: messages over TCP connections of our own, without a launcher of its own. It meets
// (meeting.h) in the folder or at the store that `meeting` names.
#include <gloo/config.h>
#include <net/if.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <thread>

#include "runtime/ranks/transport.h"
#include "runtime/ranks/transports/block_signals.h"
#include "runtime/ranks/transports/gloo_channel.h"
#include "runtime/ranks/transports/meeting.h"
#include "runtime/ranks/transports/store_board.h"

#define YUBA_TEXT_OF(x) #x
#define YUBA_VERSION(a, b, c) YUBA_TEXT_OF(a) "." YUBA_TEXT_OF(b) "." YUBA_TEXT_OF(c)

namespace yuba::runtime {
namespace {

constexpr char kName[] =
    "gloo " YUBA_VERSION(GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
constexpr int64_t kLongestPiece = int64_t{1} << 30;
constexpr std::chrono::milliseconds kBetweenLooks(20);
constexpr std::chrono::milliseconds kLook(1);

class GlooTransfer final : public Transfer {
 public:
  GlooTransfer(GlooChannel& channel, const std::vector<Message>& messages) : channel_(channel) {
    const BlockSigpipe block;
    const std::lock_guard<std::mutex> lock(channel.order);
    for (const Message& message : messages) {
      for (int64_t begin = 0; begin < message.bytes; begin += kLongestPiece) {
        Piece piece{message.peer, message.direction, nullptr};
        try {
          piece.buffer = channel.Start(message.peer, message.direction, message.data + begin,
                                       std::min(kLongestPiece, message.bytes - begin));
        } catch (const std::exception& problem) {
          failed_ = {PlainWords(problem), message.peer};
          return;
        }
        pieces_.push_back(std::move(piece));
      }
    }
    if (!pieces_.empty()) waits_for_ = pieces_[0].peer;
  }

  TransportError Wait() override {
    if (!failed_.ok()) return failed_;
    for (Piece& piece : pieces_) {
      waits_for_ = piece.peer;
      while (!piece.done) {
        TransportError error = WaitFor(piece);
        if (!error.ok()) return error;
      }
    }
    waits_for_ = -1;
    return {};
  }

  int WaitsFor() const override { return waits_for_; }

 private:
  struct Piece {
    int peer;
    Direction direction;
    std::unique_ptr<GlooChannel::Buffer> buffer;
    bool done = false;
  };

  static bool WaitFor(const Piece& piece, std::chrono::milliseconds timeout) {
    return piece.direction == Direction::kSend ? piece.buffer->waitSend(timeout)
                                               : piece.buffer->waitRecv(timeout);
  }

  TransportError WaitFor(Piece& piece) {
    const GlooChannel::Awaited awaited{piece.buffer.get(), piece.direction};
    switch (channel_.Begin(awaited, losses_)) {
      case GlooChannel::Next::kAborted: return {"aborted", -1, true};
      case GlooChannel::Next::kLoss: return FindLost();
      case GlooChannel::Next::kWait: break;
    }
    TransportError error;
    try {
      piece.done = WaitFor(piece, kForEver);
    } catch (const std::exception& problem) {
      error = {PlainWords(problem), piece.peer};
    }
    channel_.End(awaited);
    return error;
  }

  // Whether a piece can't end any more. What a rank sent before it went has come nevertheless.
  TransportError FindLost() {
    for (Piece& piece : pieces_) {
      if (piece.done) continue;
      const std::string loss = channel_.LossOf(piece.peer);
      if (loss.empty()) continue;
      try {
        // Twice, as the first may only say that the wait before was ended; throws where the piece
        // is not done, which closes the connection that is closed.
        piece.done = WaitFor(piece, kLook) || WaitFor(piece, kLook);
      } catch (const std::exception&) {
      }
      if (!piece.done) return {loss, piece.peer};
    }
    return {};
  }

  GlooChannel& channel_;
  std::vector<Piece> pieces_;
  std::atomic<int> waits_for_{-1};
  TransportError failed_;
  uint64_t losses_ = 0;  // those of the channel that FindLost has seen
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(const TransportOptions& options)
      : rank_(options.rank),
        size_(options.size),
        data_(rank_, size_, options.interface, options.timeout_seconds),
        control_(rank_, size_, options.interface, options.timeout_seconds) {}
  ~GlooTransport() override { Close(); }

  bool Connect(const TransportOptions& options, OpenError& error) {
    const std::unique_ptr<MeetingBoard> board = BoardAt(options.meeting);
    Meeting meeting(*board, rank_, size_);
    std::vector<std::string> cards, control_cards;
    const std::string separator = " / ";
    error.is_users = !board->Open(options.timeout_seconds, error.what);
    if (error.is_users) return false;
    if (!meeting.Meet(data_.Card() + separator + control_.Card(), options.timeout_seconds, cards,
                      error.what)) {
      return false;
    }
    for (std::string& card : cards) {
      const size_t end = card.find(separator);
      control_cards.push_back(end == card.npos ? "" : card.substr(end + separator.size()));
      card = card.substr(0, end);
    }
    TransportError problem = data_.Connect(cards, meeting.words());
    if (problem.ok()) problem = control_.Connect(control_cards, meeting.words());
    meeting.Leave();
    if (!problem.ok()) {
      error.what = "no connection to rank " + std::to_string(problem.peer) + ": " + problem.what;
      return false;
    }
    const BlockSignals block;
    watch_ = std::thread([this] { Watch(); });
    return true;
  }

  std::string Name() const override { return kName; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> Start(Channel channel, const std::vector<Message>& messages) override {
    return std::make_unique<GlooTransfer>(Of(channel), messages);
  }

  void Abort(Channel channel) override { Of(channel).Abort(); }

  // A connection that closes is goodbye enough: the others have what was sent.
  void Close() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    close_.notify_all();
    if (watch_.joinable()) watch_.join();
  }

 private:
  GlooChannel& Of(Channel channel) { return channel == Channel::kData ? data_ : control_; }

  void Watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!close_.wait_for(lock, kBetweenLooks, [&] { return closed_; })) {
      data_.FindLosses();
      control_.FindLosses();
    }
  }

  const int rank_, size_;
  GlooChannel data_, control_;
  std::mutex mutex_;
  std::condition_variable close_;
  bool closed_ = false;
  std::thread watch_;
};

}  // namespace
}  // namespace yuba::runtime

extern "C" __attribute__((visibility("default"))) const char* YubaTransportName() {
  return yuba::runtime::kName;
}

extern "C" __attribute__((visibility("default"))) yuba::runtime::Transport* YubaOpenTransport(
    const yuba::runtime::TransportOptions& options, yuba::runtime::OpenError& error) {
  if (options.meeting.empty()) {
    error.what =
        "gloo needs a place where the ranks meet: give a folder that all of them share by --meet";
    return nullptr;
  }
  if (!options.interface.empty() && if_nametoindex(options.interface.c_str()) == 0) {
    error.what = "this machine has no network interface \"" + options.interface + "\"";
    return nullptr;
  }
  try {
    auto transport = std::make_unique<yuba::runtime::GlooTransport>(options);
    return transport->Connect(options, error) ? transport.release() : nullptr;
  } catch (const std::exception& problem) {
    error.what = yuba::runtime::PlainWords(problem);
    return nullptr;
  }
}
