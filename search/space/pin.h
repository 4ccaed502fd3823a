// Pins: demands on a plan, and what they say of each element.
#ifndef YUBA_SEARCH_SPACE_PIN_H_
#define YUBA_SEARCH_SPACE_PIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/choice.h"
#include "search/space/restriction.h"

namespace yuba::search {

// What is demanded of the choice of one tensor or node.
struct Pin {
  bool is_node = false;
  int id = 0;  // TensorId or NodeId
  Demands demands;
  std::string text;  // as the user wrote it; for messages and prices
};

// The choice, exactly.
Pin ExactPin(bool is_node, int id, const Choice& choice);

// By element, all pins of one together; empty where there are no pins. With `replicate` stored
// tensors may be replicated. An error where no legal choice meets a pin, or two pins of one element
// contradict each other: it names the element and the pins.
absl::StatusOr<Restrictions> RestrictionsOf(const Graph& graph, const Mesh& mesh,
                                            const std::vector<Pin>& pins, bool replicate = false);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_PIN_H_
