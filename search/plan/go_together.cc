#include "search/plan/go_together.h"

#include "opsemantics/definition/graph.h"
#include "search/plan/choice_space.h"

namespace yuba::search {

bool GoTogether(const Definition& definition, int operand, bool is_copy, const Sharding& partition,
                const Sharding& tensor) {
  if (operand < 0) return !is_copy || partition == tensor;
  if (!ReadsPartials(definition, operand)) return true;
  return CombinesPartials(definition) ? PartialsSharding(partition) == tensor
                                      : KeepsGroups(tensor, partition);
}

}  // namespace yuba::search
