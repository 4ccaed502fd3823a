// Removes from an instance what this use of the operator does not need: a description says the
// general case, and an absent operand or a factor of 1 leaves copies and unread tensors behind.
#ifndef YUBA_OPSEMANTICS_ELABORATE_PRUNE_H_
#define YUBA_OPSEMANTICS_ELABORATE_PRUNE_H_

#include "opsemantics/elaborate/instance.h"

namespace yuba {

// An output that only copies an internal tensor replaces that tensor: with z = x w and y = z +
// bias, the bias absent, y = x w is left. Internal tensors that nothing reads are removed with
// their definitions. Operands and outputs stay; slots get new numbers.
void Prune(Instance& instance);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_PRUNE_H_
