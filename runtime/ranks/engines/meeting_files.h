// How processes that know nothing but a folder find each other: each writes a card there and reads
// the others'. Files that an earlier job left do no harm, as a card counts only if it repeats the
// word that its reader has just made up, which only a process of this time can have read. So a
// folder serves one job at a time, and need not be empty. Two jobs at once in one folder are an
// error where they are seen, and are not always seen: the caller names a folder of the job's own.
//
//   MeetingFiles meeting(folder, 1, 3);
//   std::vector<std::string> cards;
//   if (!meeting.Meet("127.0.0.1:4711", 60, cards, error)) return error;
//   meeting.Leave();
//
// One thread. Works on network file systems, as it relies on nothing but renaming.
#ifndef YUBA_RUNTIME_RANKS_ENGINES_MEETING_FILES_H_
#define YUBA_RUNTIME_RANKS_ENGINES_MEETING_FILES_H_

#include <string>
#include <vector>

namespace yuba::runtime {

class MeetingFiles {
 public:
  MeetingFiles(std::string folder, int rank, int size);

  // Waits until all ranks have come and know each other; makes the folder where it is missing.
  // cards[rank] is what that rank says, one line of text each. False where one has not come within
  // `timeout_seconds`, or the folder is of no use; `error` says which and why.
  bool Meet(const std::string& card, double timeout_seconds, std::vector<std::string>& cards,
            std::string& error);

  // words[rank]: made up by that rank for this job, kWordLength letters. After Meet.
  const std::vector<std::string>& words() const { return words_; }
  static constexpr size_t kWordLength = 32;

  // Removes this rank's card. Call it when the others have met too, as by a message from each.
  void Leave();

 private:
  std::string File(int rank) const;
  bool Write(const std::string& card, std::string& error) const;
  bool Read(int rank, std::string& card);
  bool IsOwnCard() const;
  std::string Missing(double timeout_seconds) const;

  std::string folder_;
  int rank_, size_;
  std::vector<std::string> words_;  // [rank], the last that was read; "-": none
  std::vector<bool> met_;           // [rank]
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_ENGINES_MEETING_FILES_H_
