// Clears an instance of what the use at hand does not need.
#ifndef YUBA_OPSEMANTICS_ELABORATE_PRUNE_H_
#define YUBA_OPSEMANTICS_ELABORATE_PRUNE_H_

#include "opsemantics/elaborate/elaborate.h"

namespace yuba {

// An output that is only a copy of an internal tensor takes its place (the sum of a product and a
// bias that is absent); internal tensors that nothing reads go.
void Prune(Instance& instance);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_PRUNE_H_
