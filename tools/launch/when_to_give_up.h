// When a launch gives a device up: what counts is progress, not how often it went on.
//
//   PastEnds past;
//   if (past.GivesUp({2, 1, false})) ...   // rank 2 ended before it had finished a step
#ifndef YUBA_TOOLS_LAUNCH_WHEN_TO_GIVE_UP_H_
#define YUBA_TOOLS_LAUNCH_WHEN_TO_GIVE_UP_H_

#include <cstdint>

#include "absl/types/optional.h"

namespace yuba::tools {

// How the ranks of one start have ended, not well.
struct AttemptEnd {
  int rank = -1;             // that is the reason; -1: none is named
  bool stepped = false;      // a step was finished
  bool got_further = false;  // a step or a checkpoint behind all that were reached before
};

class PastEnds {
 public:
  // Takes note of the next end. Whether with the same devices there is no hope: the same rank was
  // lost twice, and no step was finished in between; or two starts one after the other have not got
  // further than those before them. After that counting begins anew, as with other devices.
  bool GivesUp(const AttemptEnd& end);

 private:
  absl::optional<AttemptEnd> last_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAUNCH_WHEN_TO_GIVE_UP_H_
