// A folder that all ranks see, as a board of cards; it is made where it is missing. Works on
// network file systems, as it relies on nothing but renaming.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_FILE_BOARD_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_FILE_BOARD_H_

#include <string>

#include "runtime/ranks/transports/meeting_board.h"

namespace yuba::runtime {

class FileBoard final : public MeetingBoard {
 public:
  explicit FileBoard(std::string folder);

  bool Open(double timeout_seconds, std::string& error) override;
  bool Write(int rank, const std::string& card, std::string& error) override;
  bool Read(int rank, std::string& card, std::string& error) override;
  void Remove(int rank) override;
  std::string Name() const override { return folder_; }
  std::string NameOfCard(int rank) const override;
  std::string Advice() const override { return "all ranks must see the same folder"; }
  std::chrono::milliseconds Pause(int size) const override;

 private:
  const std::string folder_, word_;  // word_: of no other process
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_FILE_BOARD_H_
