// Pins as people write them.
//
//   PATTERN=[E, E, ...]   all tensors whose name matches; one E for each dimension:
//                           `-`              it stays whole
//                           `*`              anything
//                           `model`, `ab`    these mesh axes or groups cut it, outermost first;
//                                            the search may add others
//                         or as plans are printed: `96/ab`, `64`, `(3 12/c 64)`
//   NODES/INDEX=AXES      all nodes whose name matches: these axes cut the index
//   DIMENSION=AXES        the dimensions of inputs and outputs that the model calls so, and what
//                         they become in all tensors. `batch` is what counts examples, whatever
//                         the model calls it (Tensor::batch_dim)
//
// In names `*` stands for any characters, `?` for one; a value that stands behind its module,
// "conv2::getitem_6", is also named by "getitem_6". Example: with --mesh data=2,model=4
// `c*.weight=[model, -, -, -]` cuts the first dimension of each such weight into at least 4 parts
// and keeps the others whole. Copies and partials cannot be pinned: they follow the search alone.
#ifndef YUBA_SEARCH_SPACE_PIN_TEXT_H_
#define YUBA_SEARCH_SPACE_PIN_TEXT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/space/pin.h"

namespace yuba::search {

// A pin of each tensor or node that the text names. InvalidArgument where the text is malformed or
// names nothing: it says what is wrong, and where. A carried tensor is named by its state or by its
// next value.
absl::StatusOr<std::vector<Pin>> ParsePin(const Graph& graph, const Mesh& mesh,
                                          absl::string_view text);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_PIN_TEXT_H_
