// Where processes leave a card each for the others (meeting.h): a folder, or a launcher's store.
//
// One thread uses an object. Errors are texts for people.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_MEETING_BOARD_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_MEETING_BOARD_H_

#include <chrono>
#include <string>

namespace yuba::runtime {

class MeetingBoard {
 public:
  virtual ~MeetingBoard() = default;

  // Before all else. Like all of these it blocks for about `timeout_seconds` from here on at most.
  virtual bool Open(double timeout_seconds, std::string& error) = 0;
  // Replaces the rank's card, as a whole.
  virtual bool Write(int rank, const std::string& card, std::string& error) = 0;
  // The rank's card, of whatever process; empty where there is none. False where nothing can be
  // read here any more.
  virtual bool Read(int rank, std::string& card, std::string& error) = 0;
  virtual void Remove(int rank) = 0;

  virtual std::string Name() const = 0;                // "/shared/meet"
  virtual std::string NameOfCard(int rank) const = 0;  // "/shared/meet/rank-3"
  virtual std::string Advice() const = 0;              // where some do not come: what to look after
  // Between two looks of one of `size` ranks at all the cards.
  virtual std::chrono::milliseconds Pause(int size) const = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_MEETING_BOARD_H_
