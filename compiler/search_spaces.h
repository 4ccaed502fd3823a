// The choice between spaces of plans of which neither contains the other: with factors and with
// flat dimensions, with accumulators and without. Each space has its own graph; the search runs on
// each that may hold the best plan, and the model becomes that of the better plan.
//
// Example: a dimension of 256 that is 4 heads of 64 has the factors (4 64), and so a plan can cut
// whole heads. Over 7 devices it can cut the 4 heads (3 devices get none) or the 64 elements within
// each head (parts of 4 x 10), while the flat dimension is cut into parts of at most 37.
#ifndef YUBA_COMPILER_SEARCH_SPACES_H_
#define YUBA_COMPILER_SEARCH_SPACES_H_

#include "absl/status/statusor.h"
#include "compiler/import/onnx.h"
#include "compiler/model.h"
#include "search/search.h"

namespace yuba::compiler {

// Whether the graph without factors may have a plan that `graph`, with factors, does not have. That
// is so in two cases. A factored dimension may be cut where its factors do not end: in some order,
// the sizes of the mesh axes do not multiply to whole factors ((4 64) over axes of 2 and 7, not
// over 2 and 2). Or a definition reads one tensor along two orders of indices (x + transpose(x)) or
// by a pick: the graph without factors has a tensor in between, which may be cheaper to move than
// the box that such a definition reads.
bool FlatMayDiffer(const Graph& graph, const Mesh& mesh);

// Searches `model`, whose graph shares nothing yet. Its graph becomes the one that the plan is of:
// with the copies, accumulators and partials that plan.space states. The plan's lower bound is a
// bound of that space. Where the options leave accumulators to us ("auto"), both kinds of graph are
// searched where both may win: under a limit on memory also the graph without them, because
// accumulators take memory; and the graph with them where the search left them out. A plan of the
// latter is taken only if it saves bytes, and either saves more than its own bound leaves open or
// has no larger a gap. Where no plan fits, the error is that of the space that needs the least
// memory, and names the pins that are in the way (pins_in_the_way.h).
absl::StatusOr<search::Plan> SearchSpace(const search::SearchOptions& options, Model& model);

// SearchSpace, and where FlatMayDiffer also on the model imported anew without factors, which then
// replaces `model` if its plan is better. `import` is what `model` was imported with. With pins by
// number (options.pins) only `model` is searched: the numbers are those of its tensors and nodes.
absl::StatusOr<search::Plan> SearchSpaces(const onnx::ImportOptions& import,
                                          const search::SearchOptions& options, Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SEARCH_SPACES_H_
