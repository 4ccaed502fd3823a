// Pins: demands on a plan.
#ifndef YUBA_SEARCH_PIN_H_
#define YUBA_SEARCH_PIN_H_

#include "opsemantics/placement.h"

namespace yuba {

// The cut of one tensor or node, exactly. Used by tests and --pin.
struct Pin {
  bool is_node = false;
  int id = 0;  // TensorId or NodeId
  Cut cut;
};

}  // namespace yuba

#endif  // YUBA_SEARCH_PIN_H_
