// What makes an exchange a collective: one row for each collective, with the test that the boxes of
// a group of devices must pass. The compiler marks exchanges with it (compiler/spmd/recognise.h),
// the runtime holds each mark to it again (runtime/collective_plan.cc). What a library's collective
// does is read off an exchange's plan (runtime/ranks/rank_collective.h).
//
// A group is the devices that differ on the collective's mesh axes only. Devices 0 and 1 offer rows
// 0-3 and 4-7 of 8: where both receive rows 0-7 it is an all_gather, where device 0 receives rows
// 4-7 and device 1 rows 0-3 a permute. Where both wrote a partial of rows 0-7 and receive the sum
// of rows 0-3 and 4-7 it is a reduce_scatter, where both receive the sum of rows 0-7 an all_reduce.
#ifndef YUBA_OPSEMANTICS_BASE_COLLECTIVES_H_
#define YUBA_OPSEMANTICS_BASE_COLLECTIVES_H_

#include <set>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "opsemantics/base/box.h"

namespace yuba {

// What one group offers and receives. The boxes are not owned; at least one member.
struct CollectiveSides {
  std::vector<const Box*> from, to;  // [member]
  std::set<int> partials;            // the numbers of those that members wrote; empty in a gather
};

struct Collective {
  const char* name;  // as plans, dumps and traces write it
  bool combines;     // partials, with a reducer; else every element has one source
  bool (*matches)(const CollectiveSides& group);
};

// The table. The first row that matches all groups of an exchange is the exchange's collective.
absl::Span<const Collective> Collectives();

// A program file names a collective by its number, its position in the table counted from 1; 0 is
// an exchange that is none, "plain". -1 for an unknown name, null for 0 and an unknown number.
int CollectiveNumber(absl::string_view name);
const Collective* CollectiveAt(int number);
absl::string_view CollectiveName(int number);  // 0 .. Collectives().size()

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_COLLECTIVES_H_
