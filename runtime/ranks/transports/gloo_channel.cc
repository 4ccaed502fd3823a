#include "runtime/ranks/transports/gloo_channel.h"

#include <gloo/transport/address.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "runtime/ranks/transports/batch_threads.h"
#include "runtime/ranks/transports/block_signals.h"

namespace yuba::runtime {
namespace {

constexpr uint64_t kWatchSlot = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kGreetingSlot = kWatchSlot - 1;
// gloo gives a connection five times what a context gives a wait.
constexpr double kConnectFactor = 5;

std::string Hex(const std::vector<char>& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

std::vector<char> FromHex(const std::string& text) {
  std::vector<char> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(std::max<int64_t>(1, static_cast<int64_t>(1000 * seconds)));
}

// Sends this rank's word and receives the other's, which shows that it is the one that was met.
void Greet(GlooConnection& connection, std::string own, const std::string& other,
           std::chrono::milliseconds timeout) {
  std::string said(other.size(), '\0');
  auto send = connection.context->createUnboundBuffer(own.data(), own.size());
  auto receive = connection.context->createUnboundBuffer(said.data(), said.size());
  receive->recv(connection.other, kGreetingSlot);
  send->send(connection.other, kGreetingSlot);
  send->waitSend(timeout);
  receive->waitRecv(timeout);
  if (said != other) throw std::runtime_error("another process answers in its place");
}

}  // namespace

std::string PlainWords(const std::exception& problem) {
  const std::string words = problem.what();
  const size_t place = words.find("] ");
  return words.rfind("[", 0) == 0 && place != std::string::npos ? words.substr(place + 2) : words;
}

GlooChannel::GlooChannel(int rank, int size, const std::string& interface, double timeout_seconds)
    : rank_(rank), timeout_seconds_(timeout_seconds), connections_(size) {
  gloo::transport::tcp::attr attributes;
  attributes.iface = interface;
  const BlockSignals block;  // it starts a thread
  const BatchThreads batch;
  device_ = gloo::transport::tcp::CreateDevice(attributes);
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    GlooConnection& connection = connections_[peer];
    connection.own = rank < peer ? 0 : 1;
    connection.other = 1 - connection.own;
    connection.context = device_->createContext(connection.own, 2);
    connection.context->setTimeout(Milliseconds(timeout_seconds / kConnectFactor));
    connection.context->createPair(connection.other);
  }
}

std::string GlooChannel::Card() const {
  std::string card;
  for (const GlooConnection& connection : connections_) {
    if (!card.empty()) card += " ";
    card += connection.context == nullptr
                ? "-"
                : Hex(connection.context->getPair(connection.other)->address().bytes());
  }
  return card;
}

TransportError GlooChannel::Connect(const std::vector<std::string>& cards,
                                    const std::vector<std::string>& words) {
  const BlockSigpipe block;
  for (size_t peer = 0; peer < connections_.size(); ++peer) {
    GlooConnection& connection = connections_[peer];
    if (connection.context == nullptr) continue;
    std::istringstream card(cards[peer]);
    std::string address;
    for (int r = 0; r <= rank_; ++r) card >> address;
    try {
      connection.context->getPair(connection.other)->connect(FromHex(address));
      connection.watch = connection.context->createUnboundBuffer(&connection.watched, 1);
      connection.watch->recv(connection.other, kWatchSlot);
    } catch (const std::exception& problem) {
      return {PlainWords(problem), static_cast<int>(peer)};
    }
  }
  for (size_t peer = 0; peer < connections_.size(); ++peer) {
    if (connections_[peer].context == nullptr) continue;
    try {
      Greet(connections_[peer], words[rank_], words[peer], Milliseconds(timeout_seconds_));
    } catch (const std::exception& problem) {
      return {PlainWords(problem), static_cast<int>(peer)};
    }
  }
  return {};
}

std::unique_ptr<GlooChannel::Buffer> GlooChannel::Start(int peer, Direction direction, char* data,
                                                        int64_t bytes) {
  GlooConnection& connection = connections_[peer];
  std::unique_ptr<Buffer> buffer = connection.context->createUnboundBuffer(data, bytes);
  // The n-th that one side sends is the n-th that the other receives. The lower rank sends by even
  // numbers.
  const bool send = direction == Direction::kSend;
  const uint64_t number = send ? connection.sent++ : connection.received++;
  const uint64_t slot = 2 * number + ((connection.own == 0) == send ? 0 : 1);
  if (send)
    buffer->send(connection.other, slot);
  else
    buffer->recv(connection.other, slot);
  return buffer;
}

GlooChannel::Next GlooChannel::Begin(const Awaited& awaited, uint64_t& losses) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (aborted_) return Next::kAborted;
  if (losses != losses_) {
    losses = losses_;
    return Next::kLoss;
  }
  awaited_.insert(awaited);
  return Next::kWait;
}

void GlooChannel::End(const Awaited& awaited) {
  const std::lock_guard<std::mutex> lock(mutex_);
  awaited_.erase(awaited);
}

std::string GlooChannel::LossOf(int peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return connections_[peer].lost;
}

void GlooChannel::WakeAll() {
  for (const Awaited& awaited : awaited_) {
    if (awaited.direction == Direction::kSend)
      awaited.buffer->abortWaitSend();
    else
      awaited.buffer->abortWaitRecv();
  }
}

void GlooChannel::FindLosses() {
  for (GlooConnection& connection : connections_) {
    if (connection.watch == nullptr || !connection.lost.empty()) continue;
    try {
      // Aborted before it begins, it only looks.
      connection.watch->abortWaitRecv();
      connection.watch->waitRecv(kForEver);
    } catch (const std::exception& problem) {
      const std::lock_guard<std::mutex> lock(mutex_);
      connection.lost = PlainWords(problem);
      ++losses_;
      WakeAll();
    }
  }
}

void GlooChannel::Abort() {
  const std::lock_guard<std::mutex> lock(mutex_);
  aborted_ = true;
  WakeAll();
}

}  // namespace yuba::runtime
