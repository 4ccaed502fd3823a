// The store of torchrun's agent as a board of cards, under keys that begin with a text of the
// job's.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_STORE_BOARD_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_STORE_BOARD_H_

#include <memory>
#include <string>

#include "runtime/ranks/transports/meeting_board.h"
#include "runtime/ranks/transports/store_client.h"

namespace yuba::runtime {

class StoreBoard final : public MeetingBoard {
 public:
  // "tcp://node1:29500/job 7": the store, and what keys begin with. "tcp://[::1]:29500/job" too.
  explicit StoreBoard(const std::string& address);
  static bool IsAddress(const std::string& meeting);

  bool Open(double timeout_seconds, std::string& error) override;
  bool Write(int rank, const std::string& card, std::string& error) override;
  bool Read(int rank, std::string& card, std::string& error) override;
  void Remove(int rank) override;
  std::string Name() const override;
  std::string NameOfCard(int rank) const override;
  std::string Advice() const override;
  std::chrono::milliseconds Pause(int size) const override;

 private:
  std::string KeyOf(int rank) const;

  std::string host_, port_, prefix_;
  StoreClient store_;
};

// The board of TransportOptions::meeting.
std::unique_ptr<MeetingBoard> BoardAt(const std::string& meeting);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_STORE_BOARD_H_
