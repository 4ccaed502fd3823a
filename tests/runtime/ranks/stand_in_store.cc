#include "tests/runtime/ranks/stand_in_store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>

namespace yuba::runtime {
namespace {

constexpr uint32_t kMagic = 0x3C85F7CE;

bool Take(int connection, void* data, size_t bytes) {
  return bytes == 0 || recv(connection, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

bool TakeText(int connection, std::string& text) {
  uint64_t size = 0;
  if (!Take(connection, &size, sizeof size) || size > (1 << 20)) return false;
  text.resize(size);
  return Take(connection, text.data(), size);
}

template <typename T>
std::string BytesOf(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace

StandInStore::StandInStore(Manner manner) : manner_(manner) {
  listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(bind(listening_, any, size) == 0);
  REQUIRE(listen(listening_, 100) == 0);
  REQUIRE(getsockname(listening_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  accepts_ = std::thread([this] {
    for (int connection; (connection = accept(listening_, nullptr, nullptr)) >= 0;) {
      const std::lock_guard<std::mutex> lock(mutex_);
      connections_.push_back(connection);
      serves_.emplace_back([this, connection] { Serve(connection); });
    }
  });
}

StandInStore::~StandInStore() {
  shutdown(listening_, SHUT_RDWR);
  accepts_.join();
  for (int connection : connections_) shutdown(connection, SHUT_RDWR);
  for (std::thread& thread : serves_) thread.join();
  for (int connection : connections_) close(connection);
  close(listening_);
}

std::map<std::string, std::string> StandInStore::values() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return values_;
}

void StandInStore::Serve(int connection) {
  char request = 0;
  uint32_t magic = 0;
  bool goes_on = Take(connection, &request, 1) && request == 0 &&
                 Take(connection, &magic, sizeof magic) && magic == kMagic;
  while (goes_on) goes_on = Take(connection, &request, 1) && Answer(connection, request);
  shutdown(connection, SHUT_RDWR);
}

bool StandInStore::Answer(int connection, char request) {
  uint64_t count = 0;
  std::string key, value, answer;
  if (request == 5 && (!Take(connection, &count, sizeof count) || count != 1)) return false;
  if (!TakeText(connection, key)) return false;
  if (request == 1 && !TakeText(connection, value)) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  switch (request) {
    case 1: values_[key] = value; break;
    case 3:
      if (values_.count(key) == 0) return false;
      answer = BytesOf(uint64_t{values_[key].size()}) + values_[key];
      break;
    case 5: answer = std::string(1, values_.count(key) > 0 ? '\0' : '\1'); break;
    case 8: answer = BytesOf(static_cast<int64_t>(values_.erase(key))); break;
    default: return false;
  }
  if (manner_ == Manner::kSilent) return true;
  if (manner_ == Manner::kCloses) return false;
  if (manner_ == Manner::kNonsense) answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
  if (manner_ == Manner::kHuge && request == 3) answer = std::string(8, '\x7f');
  const size_t piece = manner_ == Manner::kByteByByte ? 1 : answer.size();
  for (size_t sent = 0; sent < answer.size(); sent += piece) {
    if (send(connection, &answer[sent], piece, MSG_NOSIGNAL) != static_cast<ssize_t>(piece)) {
      return false;
    }
  }
  return true;
}

}  // namespace yuba::runtime
