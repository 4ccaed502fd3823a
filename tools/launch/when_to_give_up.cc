#include "tools/launch/when_to_give_up.h"

namespace yuba::tools {

bool PastEnds::GivesUp(const AttemptEnd& end) {
  const absl::optional<AttemptEnd> before = last_;
  last_ = end;
  if (!before.has_value()) return false;
  const bool no_step_between = !end.stepped && end.rank == before->rank;
  const bool stands_still = !end.got_further && !before->got_further;
  const bool gives_up = no_step_between || stands_still;
  if (gives_up) last_.reset();
  return gives_up;
}

}  // namespace yuba::tools
