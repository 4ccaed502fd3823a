#include "runtime/ranks/transports/store_client.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

namespace yuba::runtime {
namespace {

// The first byte of a request.
enum Request : char { kValidate = 0, kSet = 1, kGet = 3, kCheck = 5, kRemove = 8 };
constexpr uint32_t kMagic = 0x3C85F7CE;  // behind kValidate, which a connection begins with
enum Presence : char { kThere = 0, kNotThere = 1 };
constexpr uint64_t kLongestValue = uint64_t{64} << 20;
constexpr std::chrono::milliseconds kBetweenTries(100);
constexpr std::chrono::seconds kAtLeast(1);

// Numbers are sent as they lie in memory; the store runs on machines of the same order of bytes.
template <typename T>
void Append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AppendText(std::string& bytes, const std::string& text) {
  Append(bytes, uint64_t{text.size()});
  bytes += text;
}

std::string RequestOf(Request kind, const std::string& key) {
  std::string bytes(1, kind);
  if (kind == kCheck) Append(bytes, uint64_t{1});  // so many keys
  AppendText(bytes, key);
  return bytes;
}

}  // namespace

StoreClient::~StoreClient() {
  if (socket_ >= 0) close(socket_);
}

StoreClient::Time StoreClient::End() const {
  return std::max(end_, std::chrono::steady_clock::now() + kAtLeast);
}

bool StoreClient::Fail(const std::string& problem, std::string& error) {
  error = "the store at " + name_ + ": " + problem;
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  return false;
}

// Until the socket is ready for one of the events.
bool StoreClient::Await(short events, Time end, std::string& problem) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waiting = {socket_, events, 0};
    const auto milliseconds = std::clamp<int64_t>(left.count(), 0, 1000);
    const int ready = poll(&waiting, 1, static_cast<int>(milliseconds));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) {
      problem = std::strerror(errno);
      return false;
    }
    if (left.count() <= 0) {
      problem = "no answer in time";
      return false;
    }
  }
}

// One round over the addresses of the host.
bool StoreClient::TryConnect(const std::string& host, const std::string& port,
                             std::string& problem) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    problem = gai_strerror(failed);
    return false;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    socket_ = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) {
      problem = std::strerror(errno);
      continue;
    }
    int code = connect(socket_, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    // An address that nobody answers at must not take the time of the next one.
    const Time end = std::min(End(), std::chrono::steady_clock::now() + std::chrono::seconds(10));
    if (code == EINPROGRESS && Await(POLLOUT, end, problem)) {
      socklen_t size = sizeof code;
      getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
    }
    if (code == 0) {
      const int on = 1;
      setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return true;
    }
    if (code != EINPROGRESS) problem = std::strerror(code);
    close(socket_);
    socket_ = -1;
  }
  return false;
}

bool StoreClient::Connect(const std::string& host, const std::string& port, double timeout_seconds,
                          std::string& error) {
  name_ = host + ":" + port;
  end_ = std::chrono::steady_clock::now() +
         std::chrono::milliseconds(static_cast<int64_t>(timeout_seconds * 1000));
  std::string problem;
  while (!TryConnect(host, port, problem)) {
    if (std::chrono::steady_clock::now() + kBetweenTries > end_) {
      return Fail("no connection: " + problem, error);
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
  std::string greeting(1, kValidate);
  Append(greeting, kMagic);
  return Send(greeting, error);
}

bool StoreClient::Send(const std::string& bytes, std::string& error) {
  const Time end = End();
  std::string problem;
  for (size_t sent = 0; sent < bytes.size();) {
    if (socket_ < 0) return Fail("the connection is closed", error);
    const ssize_t count =
        send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += count;
    } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
      return Fail(std::strerror(errno), error);
    } else if (!Await(POLLOUT, end, problem)) {
      return Fail(problem, error);
    }
  }
  return true;
}

bool StoreClient::Receive(char* data, size_t bytes, std::string& error) {
  const Time end = End();
  std::string problem;
  while (bytes > 0) {
    if (socket_ < 0) return Fail("the connection is closed", error);
    const ssize_t count = recv(socket_, data, bytes, MSG_DONTWAIT);
    if (count > 0) {
      data += count;
      bytes -= count;
    } else if (count == 0) {
      return Fail("it has closed the connection", error);
    } else if (errno != EAGAIN && errno != EINTR) {
      return Fail(std::strerror(errno), error);
    } else if (!Await(POLLIN, end, problem)) {
      return Fail(problem, error);
    }
  }
  return true;
}

bool StoreClient::Set(const std::string& key, const std::string& value, std::string& error) {
  std::string request = RequestOf(kSet, key);
  AppendText(request, value);
  return Send(request, error);
}

bool StoreClient::Get(const std::string& key, std::string& value, std::string& error) {
  value.clear();
  char presence = 0;
  if (!Send(RequestOf(kCheck, key), error) || !Receive(&presence, 1, error)) return false;
  if (presence == kNotThere) return true;
  if (presence != kThere) return Fail("what answers is no store of torchrun", error);
  uint64_t size = 0;
  if (!Send(RequestOf(kGet, key), error)) return false;
  if (!Receive(reinterpret_cast<char*>(&size), sizeof size, error)) return false;
  if (size > kLongestValue) {
    return Fail("it says that a value has " + std::to_string(size) + " bytes", error);
  }
  value.resize(size);
  return Receive(value.data(), size, error);
}

bool StoreClient::Remove(const std::string& key, std::string& error) {
  int64_t removed = 0;
  return Send(RequestOf(kRemove, key), error) &&
         Receive(reinterpret_cast<char*>(&removed), sizeof removed, error);
}

}  // namespace yuba::runtime
