// How processes that know nothing but a board find each other: each leaves a card there and reads
// the others'. Cards that an earlier job left do no harm, as a card counts only if it repeats the
// word that its reader has just made up, which only a process of this time can have read. So a
// board serves one job at a time, and need not be empty. Two jobs at once at one board are an
// error where they are seen, and are not always seen: the caller names a board of the job's own.
//
//   FileBoard board(folder);
//   if (!board.Open(60, error)) return error;
//   Meeting meeting(board, 1, 3);
//   std::vector<std::string> cards;
//   if (!meeting.Meet("127.0.0.1:4711", 60, cards, error)) return error;
//   meeting.Leave();
//
// One thread.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_MEETING_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_MEETING_H_

#include <string>
#include <vector>

#include "runtime/ranks/transports/meeting_board.h"

namespace yuba::runtime {

class Meeting {
 public:
  static constexpr size_t kWordLength = 32;
  static std::string MadeUpWord();  // of kWordLength letters

  Meeting(MeetingBoard& board, int rank, int size);  // `board` is open and outlives this

  // Waits until all ranks have come and know each other. cards[rank] is what that rank says, one
  // line of text each. False where one has not come within `timeout_seconds`, or the board is of no
  // use; `error` says which and why.
  bool Meet(const std::string& card, double timeout_seconds, std::vector<std::string>& cards,
            std::string& error);

  // words[rank]: made up by that rank for this job, kWordLength letters. After Meet.
  const std::vector<std::string>& words() const { return words_; }

  // Removes this rank's card. Call it when the others have met too, as by a message from each.
  void Leave();

 private:
  bool Write(const std::string& card, std::string& error);
  bool Read(int rank, std::string& card, std::string& error);
  bool Understands(int rank, const std::string& text, std::string& card);
  bool IsOwnCard(std::string& error);
  std::string Missing(double timeout_seconds) const;

  MeetingBoard& board_;
  int rank_, size_;
  std::vector<std::string> words_;  // [rank], the last that was read; "-": none
  std::vector<bool> met_;           // [rank]
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_MEETING_H_
