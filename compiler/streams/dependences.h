// Which items of an entry come before which others, since they use the same buffers.
#ifndef YUBA_COMPILER_STREAMS_DEPENDENCES_H_
#define YUBA_COMPILER_STREAMS_DEPENDENCES_H_

#include <vector>

#include "compiler/streams/work_items.h"

namespace yuba::compiler {

struct Dependences {
  std::vector<std::vector<int>> before, after;  // [item] ascending
  // [item] of an exchange: the first kernel after it; the number of items where there is none.
  std::vector<int> first_kernel_after;
};

// An item depends on an earlier one where one of the two writes a buffer that the other uses. What
// follows from other dependences is left out where a later writer of the same buffer says it.
Dependences DependencesOf(const std::vector<WorkItem>& items);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_DEPENDENCES_H_
