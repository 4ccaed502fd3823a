#include "tests/runtime/ranks/transport_timing.h"

#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace yuba::runtime {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds of one message there and the same back.
double ThereAndBack(Transport& transport, int64_t bytes, int times) {
  std::string send(bytes, 's'), room(bytes, 'r');
  const int peer = 1 - transport.rank();
  const Message out{peer, Direction::kSend, send.data(), bytes};
  const Message in{peer, Direction::kReceive, room.data(), bytes};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) {
    transport.Start(Channel::kData, {transport.rank() == 0 ? out : in})->Wait();
    transport.Start(Channel::kData, {transport.rank() == 0 ? in : out})->Wait();
  }
  return SecondsSince(start) / times;
}

// Seconds of one message in each direction at once.
double BothWays(Transport& transport, int64_t bytes, int times) {
  std::string send(bytes, 's'), room(bytes, 'r');
  const int peer = 1 - transport.rank();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) {
    transport
        .Start(Channel::kData, {{peer, Direction::kReceive, room.data(), bytes},
                                {peer, Direction::kSend, send.data(), bytes}})
        ->Wait();
  }
  return SecondsSince(start) / times;
}

}  // namespace

std::string MeasureTransport(Transport& transport) {
  std::string line = transport.Name();
  ThereAndBack(transport, 1000000, 20);  // connections and buffers are made
  absl::StrAppend(&line, absl::StrFormat(": %.1f us", 1e6 * ThereAndBack(transport, 8, 2000) / 2));
  for (const auto& [bytes, times] :
       {std::pair<int64_t, int>{65536, 1000}, {1 << 20, 200}, {16 << 20, 20}, {256 << 20, 3}}) {
    absl::StrAppend(&line, absl::StrFormat("; %d KiB %.2f GB/s", bytes >> 10,
                                           2e-9 * bytes / ThereAndBack(transport, bytes, times)));
  }
  absl::StrAppend(&line, absl::StrFormat("; 16 MiB both ways %.2f GB/s each",
                                         1e-9 * (16 << 20) / BothWays(transport, 16 << 20, 20)));
  transport.Close();
  return line;
}

}  // namespace yuba::runtime
