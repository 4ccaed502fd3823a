// The search in spaces of a model of which none holds the other: with factors and with dimensions
// as the user knows them, with accumulators and without. Factors let whole heads be cut; but 4
// heads of 64 are cut in 4 or in 64 parts, never in 7 as their 256 elements are.
#ifndef YUBA_COMPILER_SEARCH_SPACES_H_
#define YUBA_COMPILER_SEARCH_SPACES_H_

#include "absl/status/statusor.h"
#include "compiler/import/onnx.h"
#include "compiler/model.h"
#include "search/search.h"

namespace yuba::compiler {

// Whether a sharding of a whole dimension may be none of its factors: the parts of some order of
// mesh axes do not end where factors do. Or may move less: the graph without factors has tensors
// between where that with factors has one definition that reads a box of what they are views of.
bool FlatMayDiffer(const Graph& graph, const Mesh& mesh);

// SearchWithinMemory on the model with what the options let it share, which its graph becomes.
// Accumulators take memory: where there is a limit and the choice is ours, also without them; where
// there is none, also with them, for what they save where no plan of theirs is proven the best;
// `model` is what the better plan is of, as the plan's space says; the bound is of that space.
// Where no plan fits, the error is of the space that needs least, and names the pins that are in
// the way (pins_in_the_way.h).
absl::StatusOr<search::Plan> SearchSpace(const search::SearchOptions& options, Model& model);

// The same; where flat dimensions may be cheaper, also on the model imported without factors.
// `import` is what `model` was imported with; pins of numbers are of it alone.
absl::StatusOr<search::Plan> SearchSpaces(const onnx::ImportOptions& import,
                                          const search::SearchOptions& options, Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SEARCH_SPACES_H_
