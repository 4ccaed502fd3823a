// The pins of a plan's space, as the checker reads them.
#ifndef YUBA_SEARCH_CHECK_PINS_H_
#define YUBA_SEARCH_CHECK_PINS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/demand.h"
#include "search/plan/plan.h"

namespace yuba::search {

// [element]: what its pin demands; nothing where it has none. An error where the space pins an
// element that is none or comes twice, or terms of a sum, where a pin does not speak of each extent
// of its element, or demands an axis that is none or two cuts of one axis.
using PinsOfElements = std::vector<Demands>;
absl::StatusOr<PinsOfElements> PinsOf(const Graph& graph, const Mesh& mesh, const Space& space);

// [axis of the mesh]: the number of its class. Axes of one number may exchange their names: they
// are of one class, and no pin names them. Each axis that a pin names is a class of its own.
std::vector<int> ClassesUnder(const Mesh& mesh, const PinsOfElements& pins);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_PINS_H_
