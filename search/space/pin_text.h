// Pins as people write them.
//   PATTERN=[E, E, ...]  tensors of these names; one E for each dimension: `-` it stays whole, `*`
//   any choice,
//                        mesh axes or groups (`model`, `ab`) it is cut over them, outermost first,
//                        and the search may add others. Also as plans are printed: `96/ab`, `64`,
//                        `(3 12/c 64)`.
//   NODES/INDEX=AXES     nodes of these names: the index is cut over these axes
//   DIMENSION=AXES       what the model calls so, in inputs and outputs, and what it becomes in all
//                        tensors; `batch`, where the model calls nothing so, is the first dimension
//                        of the inputs
// Copies follow the search alone. In patterns `*` stands for any characters, `?` for one.
#ifndef YUBA_SEARCH_SPACE_PIN_TEXT_H_
#define YUBA_SEARCH_SPACE_PIN_TEXT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/space/pin.h"

namespace yuba::search {

// A pin of each tensor or node that the text names, at least one. Errors say what is wrong, and
// where.
absl::StatusOr<std::vector<Pin>> ParsePin(const Graph& graph, const Mesh& mesh,
                                          absl::string_view text);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_PIN_TEXT_H_
