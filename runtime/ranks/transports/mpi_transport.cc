// MPI: messages as the job's own MPI library carries them. Compiled once for each family. All calls
// are made under one mutex and none of them blocks, so that the thread level "serialized" is enough
// and a wait can be ended. As MPI moves bytes only while it is called, Wait looks again and again.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "runtime/ranks/transport.h"
#include "runtime/ranks/transports/block_signals.h"
#include "runtime/ranks/transports/mpi_family.h"
#include "runtime/ranks/transports/patience.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kLongestPiece = int64_t{1} << 30;  // counts are int
constexpr int kTag = 0;
constexpr int kLooksAfterCancel = 100;

// All calls of the library.
std::mutex& Mutex() {
  static std::mutex mutex;
  return mutex;
}

struct MpiChannel {
  MPI_Comm communicator = MPI_COMM_NULL;
  std::atomic<bool> aborted{false};
};

class MpiTransfer final : public Transfer {
 public:
  MpiTransfer(MpiChannel& channel, const std::vector<Message>& messages) : channel_(channel) {
    const BlockSigpipe block;
    const std::lock_guard<std::mutex> lock(Mutex());
    for (const Message& message : messages) {
      for (int64_t begin = 0; begin < message.bytes; begin += kLongestPiece) {
        const int bytes = static_cast<int>(std::min(kLongestPiece, message.bytes - begin));
        if (!Start(message, message.data + begin, bytes)) return;
      }
    }
    if (!pieces_.empty()) waits_for_ = pieces_[0].peer;
  }

  TransportError Wait() override {
    if (!failed_.ok()) return failed_;
    const BlockSigpipe block;
    Patience patience(bytes_);
    std::vector<MPI_Status> statuses(requests_.size());
    while (!channel_.aborted) {
      int done = 0, code = MPI_SUCCESS;
      {
        const std::lock_guard<std::mutex> lock(Mutex());
        code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                           statuses.data());
        if (code != MPI_SUCCESS) return Failure(code, statuses);
        if (done) return WrongSize(statuses);
      }
      patience.Rest();
    }
    Cancel();
    return {"aborted", -1, true};
  }

  // As it was last known where another thread is in the library: a call may not return, as when a
  // connection was closed.
  int WaitsFor() const override {
    const BlockSigpipe block;
    const std::unique_lock<std::mutex> lock(Mutex(), std::try_to_lock);
    if (lock.owns_lock()) waits_for_ = FirstUnfinished();
    return waits_for_;
  }

 private:
  struct Piece {
    int peer, bytes;
    Direction direction;
  };

  int FirstUnfinished() const {
    for (size_t i = 0; i < requests_.size(); ++i) {
      int done = 1;
      if (requests_[i] != MPI_REQUEST_NULL)
        MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE);
      if (!done) return pieces_[i].peer;
    }
    return -1;
  }

  bool Start(const Message& message, char* data, int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code =
        message.direction == Direction::kSend
            ? MPI_Isend(data, bytes, MPI_BYTE, message.peer, kTag, channel_.communicator, &request)
            : MPI_Irecv(data, bytes, MPI_BYTE, message.peer, kTag, channel_.communicator, &request);
    if (code != MPI_SUCCESS) {
      failed_ = {ErrorText(code), message.peer};
      return false;
    }
    requests_.push_back(request);
    pieces_.push_back({message.peer, bytes, message.direction});
    bytes_ += bytes;
    return true;
  }

  TransportError Failure(int code, const std::vector<MPI_Status>& statuses) const {
    if (code == MPI_ERR_IN_STATUS) {
      for (size_t i = 0; i < statuses.size(); ++i) {
        const int error = statuses[i].MPI_ERROR;
        if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) {
          return {ErrorText(error), pieces_[i].peer};
        }
      }
    }
    return {ErrorText(code), -1};
  }

  TransportError WrongSize(const std::vector<MPI_Status>& statuses) const {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].direction == Direction::kSend) continue;
      int bytes = 0;
      MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
      if (bytes != pieces_[i].bytes) {
        return {"a message of " + std::to_string(bytes) + " bytes came in place of " +
                    std::to_string(pieces_[i].bytes),
                pieces_[i].peer};
      }
    }
    return {};
  }

  // Takes back what has not begun to come. What has may go on as long as MPI is called.
  void Cancel() {
    const std::lock_guard<std::mutex> lock(Mutex());
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL || pieces_[i].direction == Direction::kSend) continue;
      MPI_Cancel(&requests_[i]);
    }
    std::vector<MPI_Status> statuses(requests_.size());
    int done = 0;
    for (int look = 0; look < kLooksAfterCancel && !done; ++look) {
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, statuses.data());
    }
  }

  MpiChannel& channel_;
  std::vector<MPI_Request> requests_;
  std::vector<Piece> pieces_;  // [request]
  int64_t bytes_ = 0;
  TransportError failed_;
  mutable std::atomic<int> waits_for_{-1};
};

class MpiTransport final : public Transport {
 public:
  // Empty where all is well.
  std::string Open(const TransportOptions& options) {
    if (options.size > 1) {
      const std::string wrong = WrongLauncher();
      if (!wrong.empty()) return wrong;
    }
    PrepareLibrary();
    const BlockSigpipe block;
    const std::lock_guard<std::mutex> lock(Mutex());
    int level = MPI_THREAD_SINGLE;
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    if (code != MPI_SUCCESS) return ErrorText(code);
    if (level < MPI_THREAD_SERIALIZED) return LibraryName() + " lacks calls from several threads";
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (rank_ != options.rank || size_ != options.size) {
      return LibraryName() + " says that this is rank " + std::to_string(rank_) + " of " +
             std::to_string(size_) + ", the launcher's variables say rank " +
             std::to_string(options.rank) + " of " + std::to_string(options.size) +
             (size_ == 1 ? "; this is the MPI of another launcher, or of another version" : "");
    }
    for (MpiChannel& channel : channels_) {
      const int dup = MPI_Comm_dup(MPI_COMM_WORLD, &channel.communicator);
      if (dup != MPI_SUCCESS) return ErrorText(dup);
    }
    return "";
  }

  std::string Name() const override { return LibraryName(); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> Start(Channel channel, const std::vector<Message>& messages) override {
    return std::make_unique<MpiTransfer>(Of(channel), messages);
  }

  void Abort(Channel channel) override { Of(channel).aborted = true; }

  // Waits for the others: there is no other goodbye that keeps launchers from taking it for a
  // failure.
  void Close() override {
    const BlockSigpipe block;
    const std::lock_guard<std::mutex> lock(Mutex());
    MPI_Finalize();
  }

 private:
  MpiChannel& Of(Channel channel) { return channels_[channel == Channel::kData ? 0 : 1]; }

  int rank_ = 0, size_ = 1;
  MpiChannel channels_[2];
};

}  // namespace
}  // namespace yuba::runtime

extern "C" __attribute__((visibility("default"))) const char* YubaTransportName() {
  static const std::string name = yuba::runtime::LibraryName();
  return name.c_str();
}

extern "C" __attribute__((visibility("default"))) yuba::runtime::Transport* YubaOpenTransport(
    const yuba::runtime::TransportOptions& options, yuba::runtime::OpenError& error) {
  auto transport = std::make_unique<yuba::runtime::MpiTransport>();
  error.what = transport->Open(options);
  return error.what.empty() ? transport.release() : nullptr;
}
