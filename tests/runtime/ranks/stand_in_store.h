// A store as torchrun's agent has, on loopback, that keeps to the protocol as far as clients of
// ours speak it; and one that does not.
#ifndef YUBA_TESTS_RUNTIME_RANKS_STAND_IN_STORE_H_
#define YUBA_TESTS_RUNTIME_RANKS_STAND_IN_STORE_H_

#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace yuba::runtime {

enum class Manner {
  kRight,
  kByteByByte,  // right, with each byte of an answer sent by itself
  kSilent,      // answers nothing
  kCloses,      // at the first request
  kNonsense,    // answers by bytes of no meaning
  kHuge,        // says that a value has more bytes than there are
};

class StandInStore {
 public:
  explicit StandInStore(Manner manner = Manner::kRight);
  ~StandInStore();  // closes all connections

  int port() const { return port_; }
  std::map<std::string, std::string> values();

 private:
  void Serve(int connection);
  bool Answer(int connection, char request);

  const Manner manner_;
  int listening_ = -1, port_ = 0;
  std::thread accepts_;
  std::mutex mutex_;  // of the rest
  std::map<std::string, std::string> values_;
  std::vector<int> connections_;
  std::list<std::thread> serves_;
};

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_RANKS_STAND_IN_STORE_H_
