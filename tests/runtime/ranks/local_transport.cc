#include "tests/runtime/ranks/local_transport.h"

#include <chrono>
#include <cstring>

#include "absl/types/optional.h"

namespace yuba::runtime {

class LocalTransfer : public Transfer {
 public:
  LocalTransfer(LocalNetwork& network, int rank, Channel channel, const std::vector<Message>& all)
      : network_(network), rank_(rank), channel_(channel) {
    std::lock_guard<std::mutex> lock(network_.mutex_);
    for (const Message& message : all) {
      const bool sends = message.direction == Direction::kSend;
      LocalNetwork::Traffic& line = network_.lines_[LineOf(message)];
      parts_.push_back({message, sends ? line.sent++ : line.awaited++});
      if (!sends) continue;
      const auto late = std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(network_.delays_[rank_]));
      if (network_.silent_.count(rank_) == 0 && network_.dropped_.count(rank_) == 0) {
        line.letters[parts_.back().number] = {std::string(message.data, message.bytes),
                                              Clock::now() + late};
      }
    }
    network_.changed_.notify_all();
  }

  TransportError Wait() override {
    std::unique_lock<std::mutex> lock(network_.mutex_);
    for (;;) {
      bool all_done = true;
      absl::optional<Clock::time_point> next;
      for (Part& part : parts_) {
        if (!part.done) part.done = Advance(part, next);
        all_done = all_done && part.done;
      }
      if (!error_.ok()) return error_;
      if (all_done) return {};
      if (network_.aborted_.count({rank_, channel_}) != 0) return {"aborted", -1, true};
      for (const Part& part : parts_) {
        if (part.done) continue;
        const int peer = part.message.peer;
        if (network_.dropped_.count(peer) != 0 || network_.dropped_.count(rank_) != 0) {
          return {"connection closed by peer", peer, false};
        }
      }
      if (next.has_value()) {
        network_.changed_.wait_until(lock, *next);
      } else {
        network_.changed_.wait(lock);
      }
    }
  }

  int WaitsFor() const override {
    std::lock_guard<std::mutex> lock(network_.mutex_);
    for (const Part& part : parts_) {
      if (!part.done) return part.message.peer;
    }
    return -1;
  }

 private:
  struct Part {
    Message message;
    int64_t number;  // of its line
    bool done = false;
  };

  LocalNetwork::Line LineOf(const Message& message) const {
    const bool sends = message.direction == Direction::kSend;
    return {channel_, sends ? rank_ : message.peer, sends ? message.peer : rank_};
  }

  bool Advance(const Part& part, absl::optional<Clock::time_point>& next) {
    LocalNetwork::Traffic& line = network_.lines_[LineOf(part.message)];
    if (part.message.direction == Direction::kSend) {
      return !network_.rendezvous_ || line.taken.count(part.number) != 0;
    }
    const auto found = line.letters.find(part.number);
    if (found == line.letters.end()) return false;
    const LocalNetwork::Letter& letter = found->second;
    if (letter.arrives > Clock::now()) {
      if (!next.has_value() || letter.arrives < *next) next = letter.arrives;
      return false;
    }
    if (static_cast<int64_t>(letter.bytes.size()) != part.message.bytes) {
      error_ = {"a message is received with another size than it was sent with", -1, false};
      return true;
    }
    std::memcpy(part.message.data, letter.bytes.data(), letter.bytes.size());
    line.letters.erase(found);
    line.taken.insert(part.number);
    network_.changed_.notify_all();
    return true;
  }

  LocalNetwork& network_;
  const int rank_;
  const Channel channel_;
  std::vector<Part> parts_;
  TransportError error_;
};

class LocalTransport : public Transport {
 public:
  LocalTransport(LocalNetwork& network, int rank) : network_(network), rank_(rank) {}

  std::string Name() const override { return "local"; }
  int rank() const override { return rank_; }
  int size() const override { return network_.size_; }
  std::unique_ptr<Transfer> Start(Channel channel, const std::vector<Message>& messages) override {
    return std::make_unique<LocalTransfer>(network_, rank_, channel, messages);
  }
  void Abort(Channel channel) override {
    std::lock_guard<std::mutex> lock(network_.mutex_);
    if (network_.deaf_.count(rank_) != 0) return;
    network_.aborted_.insert({rank_, channel});
    network_.changed_.notify_all();
  }
  void Close() override {
    std::unique_lock<std::mutex> lock(network_.mutex_);
    while (network_.deaf_.count(rank_) != 0) network_.changed_.wait(lock);
    network_.closed_.insert(rank_);
  }

 private:
  LocalNetwork& network_;
  const int rank_;
};

std::unique_ptr<Transport> LocalNetwork::Open(int rank) {
  return std::make_unique<LocalTransport>(*this, rank);
}

void LocalNetwork::Drop(int rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  dropped_.insert(rank);
  changed_.notify_all();
}

void LocalNetwork::Silence(int rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  silent_.insert(rank);
}

void LocalNetwork::Deafen(int rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  deaf_.insert(rank);
}

void LocalNetwork::Delay(int rank, double seconds) {
  std::lock_guard<std::mutex> lock(mutex_);
  delays_[rank] = seconds;
}

void LocalNetwork::SetRendezvous(bool rendezvous) {
  std::lock_guard<std::mutex> lock(mutex_);
  rendezvous_ = rendezvous;
}

bool LocalNetwork::IsClosed(int rank) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_.count(rank) != 0;
}

}  // namespace yuba::runtime
