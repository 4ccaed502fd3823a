#include "runtime/program/all_reduce.h"

#include <algorithm>

#include "opsemantics/base/collectives.h"

namespace yuba::program {

bool IsAllReduce(const Program &program, int sum) {
  if (sum < 0 || sum + 1 >= program.instructions_size()) return false;
  const Instruction &first = program.instructions(sum), &second = program.instructions(sum + 1);
  if (!first.has_exchange() || !second.has_exchange()) return false;
  const Exchange &reduce = first.exchange(), &gather = second.exchange();
  return CollectiveName(reduce.collective()) == "reduce_scatter" &&
         CollectiveName(gather.collective()) == "all_gather" &&
         reduce.destination() == gather.source() && gather.source() == gather.destination() &&
         std::equal(reduce.axes().begin(), reduce.axes().end(), gather.axes().begin(),
                    gather.axes().end());
}

}  // namespace yuba::program
