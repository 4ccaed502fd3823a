#include "tests/runtime/ranks/process_ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "tests/runtime/ranks/run_job.h"
#include "tests/support/command.h"

namespace yuba::runtime {
namespace {

constexpr int kChannels = 2;

// sockets[channel][own][other]: the end that rank `own` has; all of them before the fork.
using Sockets = std::vector<std::vector<std::vector<int>>>;

// Moves messages one after the other while it is waited for; so those of one socket must be of one
// thread, as they are of a job.
class SocketTransfer : public Transfer {
 public:
  SocketTransfer(const std::vector<int>& sockets, int aborted, std::vector<Message> messages)
      : sockets_(sockets), aborted_(aborted), messages_(std::move(messages)) {}

  int WaitsFor() const override { return waits_for_; }

  TransportError Wait() override {
    for (const Message& message : messages_) {
      waits_for_ = message.peer;
      for (int64_t done = 0; done < message.bytes;) {
        const bool sends = message.direction == Direction::kSend;
        const int socket = sockets_[message.peer];
        pollfd files[] = {{socket, static_cast<short>(sends ? POLLOUT : POLLIN), 0},
                          {aborted_, POLLIN, 0}};
        if (poll(files, 2, -1) < 0) continue;
        if (files[1].revents != 0) return {"aborted", -1, true};
        char* const data = message.data + done;
        const size_t rest = static_cast<size_t>(message.bytes - done);
        const ssize_t moved = sends ? send(socket, data, rest, MSG_NOSIGNAL | MSG_DONTWAIT)
                                    : recv(socket, data, rest, MSG_DONTWAIT);
        if (moved > 0) {
          done += moved;
        } else if (moved == 0) {
          return {"connection closed by peer", message.peer, false};
        } else if (errno != EAGAIN && errno != EINTR) {
          return {std::strerror(errno), message.peer, false};
        }
      }
    }
    waits_for_ = -1;
    return {};
  }

 private:
  const std::vector<int>& sockets_;
  const int aborted_;
  const std::vector<Message> messages_;
  std::atomic<int> waits_for_{-1};
};

class SocketTransport : public Transport {
 public:
  SocketTransport(int rank, const Sockets& sockets) : rank_(rank) {
    for (int channel = 0; channel < kChannels; ++channel) {
      sockets_.push_back(sockets[channel][rank]);
      aborted_.push_back(eventfd(0, EFD_CLOEXEC));
    }
  }
  std::string Name() const override { return "sockets"; }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(sockets_[0].size()); }
  std::unique_ptr<Transfer> Start(Channel channel, const std::vector<Message>& messages) override {
    const int c = static_cast<int>(channel);
    return std::make_unique<SocketTransfer>(sockets_[c], aborted_[c], messages);
  }
  void Abort(Channel channel) override { eventfd_write(aborted_[static_cast<int>(channel)], 1); }
  void Close() override {}

 private:
  const int rank_;
  std::vector<std::vector<int>> sockets_;
  std::vector<int> aborted_;
};

Sockets MakeSockets(int size) {
  Sockets sockets(kChannels, std::vector<std::vector<int>>(size, std::vector<int>(size, -1)));
  for (auto& channel : sockets) {
    for (int a = 0; a < size; ++a) {
      for (int b = 0; b < a; ++b) {
        int ends[2] = {-1, -1};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return sockets;
        channel[a][b] = ends[0];
        channel[b][a] = ends[1];
      }
    }
  }
  return sockets;
}

// All ends but those of `rank`, so that only its end closes them.
void CloseOthers(const Sockets& sockets, int rank) {
  for (const auto& channel : sockets) {
    for (size_t own = 0; own < channel.size(); ++own) {
      if (static_cast<int>(own) == rank) continue;
      for (int socket : channel[own]) {
        if (socket >= 0) close(socket);
      }
    }
  }
}

[[noreturn]] void BeRank(int rank, const Sockets& sockets, const JobOptions& options,
                         const std::function<int(Job&)>& run, const std::string& file) {
  CloseOthers(sockets, rank);
  const int size = static_cast<int>(sockets[0].size());
  auto job = Job::Join(std::make_unique<SocketTransport>(rank, sockets), FactsOfRanks(size)[rank],
                       options);
  if (!job.ok()) {
    std::ofstream(file) << job.status();
    _exit(99);
  }
  const int code = (*job)->Leave(run(**job));
  const absl::Status ended = (*job)->ended();
  if (!ended.ok()) std::ofstream(file) << ended.message();
  _exit(code);
}

}  // namespace

std::vector<ProcessOutcome> RunProcesses(int size, const JobOptions& options,
                                         const std::function<int(Job&)>& run) {
  const std::string folder = ScratchFolder("processes");
  const auto file_of = [&](int rank) { return folder + "/rank" + std::to_string(rank); };
  const Sockets sockets = MakeSockets(size);
  std::vector<pid_t> processes;
  for (int rank = 0; rank < size; ++rank) {
    processes.push_back(fork());
    if (processes.back() == 0) BeRank(rank, sockets, options, run, file_of(rank));
  }
  CloseOthers(sockets, -1);
  std::vector<ProcessOutcome> outcomes(size);
  int stopped = 0;
  for (int left = size; left > 0;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WUNTRACED);
    for (int rank = 0; rank < size; ++rank) {
      if (processes[rank] != process) continue;
      if (WIFSTOPPED(status)) {
        ++stopped;
      } else {
        --left;
        outcomes[rank].code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
    if (stopped == left) {
      for (int rank = 0; rank < size; ++rank) {
        if (outcomes[rank].code == -1) kill(processes[rank], SIGKILL);
      }
      stopped = 0;
    }
  }
  for (int rank = 0; rank < size; ++rank) {
    std::ostringstream text;
    text << std::ifstream(file_of(rank)).rdbuf();
    outcomes[rank].ended = text.str();
  }
  return outcomes;
}

}  // namespace yuba::runtime
