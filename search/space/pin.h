// Pins: demands on single tensors and nodes, and the restrictions that they make together.
//
// pin_text.h parses them from `--pin 'c*.weight=[model, -]'`. RestrictionsOf joins all pins of one
// element and refuses pins that no legal choice meets.
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
  std::string text;  // as the user wrote it, for messages and prices; "" where nobody did
};

// The pin that demands exactly this sharding of a tensor or partition of a node.
Pin ExactPin(bool is_node, int id, const Sharding& sharding);

// [element]: all pins of the element joined; empty where there are no pins. With `replicate` stored
// tensors may be replicated. InvalidArgument, naming the element and the pins, where no legal
// choice meets a pin or two pins of one element contradict each other.
absl::StatusOr<Restrictions> RestrictionsOf(const Graph& graph, const Mesh& mesh,
                                            const std::vector<Pin>& pins, bool replicate = false);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_PIN_H_
