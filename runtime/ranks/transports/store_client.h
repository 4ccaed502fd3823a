// A client of the store of keys and values that torchrun's agent keeps for its workers at
// MASTER_ADDR and MASTER_PORT, PyTorch's TCPStore. Spoken of its protocol: setting, looking,
// getting and removing a key. Nothing that comes from the other side is believed: lengths have
// limits, and each call ends.
//
//   StoreClient store;
//   if (!store.Connect("node1", "29500", 60, error)) return error;
//   store.Set("card", "here I am", error);
//
// One thread. After an error the connection is closed and all else fails.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_STORE_CLIENT_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_STORE_CLIENT_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace yuba::runtime {

class StoreClient {
 public:
  StoreClient() = default;
  ~StoreClient();
  StoreClient(const StoreClient&) = delete;

  // Tries again until somebody listens there. All calls together get so many seconds from here on;
  // each that comes later one second.
  bool Connect(const std::string& host, const std::string& port, double timeout_seconds,
               std::string& error);
  bool Set(const std::string& key, const std::string& value, std::string& error);
  // Empty where there is no such key.
  bool Get(const std::string& key, std::string& value, std::string& error);
  bool Remove(const std::string& key, std::string& error);

 private:
  using Time = std::chrono::steady_clock::time_point;

  bool TryConnect(const std::string& host, const std::string& port, std::string& problem);
  bool Await(short events, Time end, std::string& problem);
  bool Send(const std::string& bytes, std::string& error);
  bool Receive(char* data, size_t bytes, std::string& error);
  bool Fail(const std::string& problem, std::string& error);
  Time End() const;

  std::string name_;  // "host:port"
  int socket_ = -1;   // -1: none
  Time end_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_STORE_CLIENT_H_
