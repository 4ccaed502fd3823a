// One rank of a job that tests a transport: transport_worker CASE TRANSPORT FOLDER [MEETING RANK
// SIZE], with rank and size of the MPI launcher where they are not given. FOLDER has the
// transports. Each rank prints one line: "rank 1: fine", or what is wrong.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/ranks/open_transport.h"
#include "tests/runtime/ranks/transport_timing.h"

namespace yuba::runtime {
namespace {

constexpr double kTimeoutSeconds = 60;

int Number(const char* variable, const char* other) {
  const char* text = std::getenv(variable);
  if (text == nullptr) text = std::getenv(other);
  return text == nullptr ? -1 : std::atoi(text);
}

char ByteOf(int from, int to, Channel channel, size_t message, int64_t index) {
  uint64_t mixed = index * 0x9e3779b97f4a7c15u + from * 131 + to * 31 + message * 7 +
                   (channel == Channel::kData ? 3 : 5);
  mixed ^= mixed >> 29;
  return static_cast<char>(mixed * 0xbf58476d1ce4e5b9u >> 56);
}

constexpr int64_t kSizes[] = {1, 2, 7, 4096, 1, 65536, 65537, 300000, 3, 5000000, 1000000, 8};

// All messages with all other ranks at once, two rounds of them.
std::string Exchange(Transport& transport, Channel channel) {
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> buffers;
    std::vector<Message> messages;
    struct Received {
      int peer;
      size_t number, buffer;
    };
    std::vector<Received> received;
    const size_t count = std::size(kSizes);
    buffers.reserve(2 * count * transport.size());
    for (int peer = 0; peer < transport.size(); ++peer) {
      if (peer == transport.rank()) continue;
      for (size_t i = 0; i < count; ++i) {
        const int64_t bytes = kSizes[(i + round) % count];
        std::string& send = buffers.emplace_back(bytes, '\0');
        for (int64_t k = 0; k < bytes; ++k) send[k] = ByteOf(transport.rank(), peer, channel, i, k);
        messages.push_back({peer, Direction::kSend, send.data(), bytes});
        received.push_back({peer, i, buffers.size()});
        std::string& room = buffers.emplace_back(bytes, '\0');
        messages.push_back({peer, Direction::kReceive, room.data(), bytes});
      }
    }
    std::unique_ptr<Transfer> first = transport.Start(
        channel, {messages.begin(), messages.begin() + static_cast<int>(messages.size() / 2)});
    std::unique_ptr<Transfer> second = transport.Start(
        channel, {messages.begin() + static_cast<int>(messages.size() / 2), messages.end()});
    for (Transfer* transfer : {second.get(), first.get()}) {
      const TransportError error = transfer->Wait();
      if (!error.ok()) return absl::StrCat("peer ", error.peer, ": ", error.what);
    }
    for (const Received& message : received) {
      const std::string& room = buffers[message.buffer];
      for (size_t k = 0; k < room.size(); ++k) {
        if (room[k] == ByteOf(message.peer, transport.rank(), channel, message.number, k)) continue;
        return absl::StrCat("byte ", k, " of message ", message.number, " from rank ", message.peer,
                            " is another one");
      }
    }
  }
  return "fine";
}

// Sent in one order, received in the other.
std::string ChannelsDoNotMeet(Transport& transport) {
  const int next = (transport.rank() + 1) % transport.size();
  const int previous = (transport.rank() + transport.size() - 1) % transport.size();
  char data = 'd', control = 'c', got_data = 0, got_control = 0;
  std::unique_ptr<Transfer> transfers[] = {
      transport.Start(Channel::kControl, {{previous, Direction::kReceive, &got_control, 1}}),
      transport.Start(Channel::kData, {{previous, Direction::kReceive, &got_data, 1},
                                       {next, Direction::kSend, &data, 1}}),
      transport.Start(Channel::kControl, {{next, Direction::kSend, &control, 1}})};
  for (const std::unique_ptr<Transfer>& transfer : transfers) {
    const TransportError error = transfer->Wait();
    if (!error.ok()) return absl::StrCat("peer ", error.peer, ": ", error.what);
  }
  return got_data == 'd' && got_control == 'c' ? "fine" : "a message came on the other channel";
}

std::string ExchangeOnBoth(Transport& transport) {
  const std::string apart = ChannelsDoNotMeet(transport);
  if (apart != "fine") return apart;
  std::string control;
  std::thread thread([&] { control = Exchange(transport, Channel::kControl); });
  const std::string data = Exchange(transport, Channel::kData);
  thread.join();
  if (data == "fine" && control == "fine") transport.Close();
  return data != "fine" ? data : control;
}

// More bytes than an int counts, from rank 0 to rank 1, and a byte after them.
std::string SendLarge(Transport& transport) {
  constexpr int64_t kBytes = (int64_t{9} << 28) + 1, kStep = 4097;
  if (transport.rank() > 1) return "fine";
  const bool sends = transport.rank() == 0;
  const Direction direction = sends ? Direction::kSend : Direction::kReceive;
  std::string large(kBytes, '\0');
  char last = sends ? 'z' : 0;
  for (int64_t k = 0; sends && k < kBytes; k += kStep)
    large[k] = ByteOf(0, 1, Channel::kData, 0, k);
  const int peer = 1 - transport.rank();
  const TransportError error = transport
                                   .Start(Channel::kData, {{peer, direction, large.data(), kBytes},
                                                           {peer, direction, &last, 1}})
                                   ->Wait();
  if (!error.ok()) return absl::StrCat("peer ", error.peer, ": ", error.what);
  for (int64_t k = 0; k < kBytes; k += kStep) {
    if (large[k] != ByteOf(0, 1, Channel::kData, 0, k))
      return absl::StrCat("byte ", k, " is wrong");
  }
  if (last != 'z') return "the byte behind is wrong";
  transport.Close();
  return "fine";
}

// Waits for what nobody sends; another thread ends that. The other channel goes on.
std::string AbortWait(Transport& transport) {
  const int next = (transport.rank() + 1) % transport.size();
  char byte = 0;
  std::unique_ptr<Transfer> never =
      transport.Start(Channel::kData, {{next, Direction::kReceive, &byte, 1}});
  std::thread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    transport.Abort(Channel::kData);
  });
  const TransportError error = never->Wait();
  thread.join();
  if (!error.aborted) return absl::StrCat("not aborted: ", error.what);
  std::unique_ptr<Transfer> later =
      transport.Start(Channel::kData, {{next, Direction::kReceive, &byte, 1}});
  if (!later->Wait().aborted) return "a later wait is not aborted";
  const std::string control = Exchange(transport, Channel::kControl);
  if (control == "fine") transport.Close();  // what was aborted had not begun to come
  return control;
}

// The last rank is killed while it sends; the others wait for it, and for one another.
std::string LosePeer(Transport& transport) {
  const int last = transport.size() - 1;
  constexpr int64_t kBytes = int64_t{256} << 20;
  std::string large(kBytes, 'x'), small(1, 'y');
  if (transport.rank() == last) {
    transport.Start(Channel::kControl, {{0, Direction::kReceive, small.data(), 1}})->Wait();
    auto send = transport.Start(Channel::kData, {{0, Direction::kSend, large.data(), kBytes}});
    raise(SIGKILL);
  }
  std::vector<Message> messages;
  // From each other, in vain: those who are there must not be named.
  for (int peer = 0; peer < transport.size(); ++peer) {
    if (peer == transport.rank()) continue;
    const bool is_large = transport.rank() == 0 && peer == last;
    std::string& room = is_large ? large : small;
    messages.push_back({peer, Direction::kReceive, room.data(), is_large ? kBytes : 1});
  }
  std::unique_ptr<Transfer> transfer = transport.Start(Channel::kData, messages);
  if (transport.rank() == 0) {
    transport.Start(Channel::kControl, {{last, Direction::kSend, small.data(), 1}})->Wait();
  }
  const TransportError error = transfer->Wait();
  if (error.ok() || error.aborted) return absl::StrCat("no error: ", error.what);
  if (error.peer != last) return absl::StrCat("peer ", error.peer, ": ", error.what);
  // Writing to it is an error too, not a signal.
  for (int i = 0; i < 3; ++i) {
    const TransportError again =
        transport.Start(Channel::kData, {{last, Direction::kSend, large.data(), kBytes}})->Wait();
    if (again.ok() || again.peer != last) return absl::StrCat("peer ", again.peer, " afterwards");
  }
  // Who leaves before the others have looked is lost too.
  for (int peer = 0; peer < last; ++peer) {
    if (peer == transport.rank()) continue;
    char out = 0, in = 0;
    const TransportError left = transport
                                    .Start(Channel::kControl, {{peer, Direction::kSend, &out, 1},
                                                               {peer, Direction::kReceive, &in, 1}})
                                    ->Wait();
    if (!left.ok()) return absl::StrCat("peer ", left.peer, " has left: ", left.what);
  }
  return "fine";
}

const std::map<std::string, std::function<std::string(Transport&)>> kCases = {
    {"exchange", ExchangeOnBoth}, {"abort", AbortWait},       {"large", SendLarge},
    {"lose", LosePeer},           {"time", MeasureTransport},
};

int Run(const std::string& name, const std::string& kind, const std::string& folder,
        const TransportOptions& options) {
  absl::StatusOr<std::unique_ptr<Transport>> transport = OpenTransport(kind, options, folder);
  const std::string line =
      transport.ok() ? kCases.at(name)(**transport) : std::string(transport.status().message());
  const std::string text = absl::StrCat("rank ", options.rank, ": ", line, "\n");
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) return 1;
  if (!transport.ok() || line != "fine") _Exit(1);
  // Without Close a transport may wait for the others. MPI's libraries leave memory behind, which a
  // leak checker would report.
  if (name == "lose" || kind != "gloo") _Exit(0);
  return 0;
}

}  // namespace
}  // namespace yuba::runtime

int main(int argc, char** argv) {
  using yuba::runtime::Number;
  if (argc < 4) return 2;
  yuba::runtime::TransportOptions options;
  options.interface = "lo";
  options.timeout_seconds = yuba::runtime::kTimeoutSeconds;
  options.rank = argc > 5 ? std::atoi(argv[5]) : Number("OMPI_COMM_WORLD_RANK", "PMI_RANK");
  options.size = argc > 6 ? std::atoi(argv[6]) : Number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
  if (argc > 4) options.meeting = argv[4];
  if (argc > 7) options.timeout_seconds = std::atof(argv[7]);
  return yuba::runtime::Run(argv[1], argv[2], argv[3], options);
}
