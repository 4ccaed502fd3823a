// The search in the two spaces that imports make: with factors, and with dimensions as the user
// knows them. Factors let whole heads be cut; but 4 heads of 64 are cut in 4 or in 64 parts, never
// in 7 as their 256 elements are. Neither space holds the other.
#ifndef YUBA_COMPILER_SEARCH_SPACES_H_
#define YUBA_COMPILER_SEARCH_SPACES_H_

#include "absl/status/statusor.h"
#include "compiler/import/onnx.h"
#include "compiler/model.h"
#include "search/search.h"

namespace yuba {

// Whether a cut of a whole dimension may be none of its factors: the parts of some order of mesh
// axes do not end where factors do.
bool FlatMayDiffer(const Graph& graph, const Mesh& mesh);

// SearchWithinMemory on the model with what the options let it share; where flat dimensions may be
// cheaper, also on the model imported without factors: it becomes `model` where its plan moves
// fewer bytes, as the plan's space says. The bound is of that space. `import` is what `model`
// was imported with; pins of numbers are of it alone.
absl::StatusOr<Plan> SearchSpaces(const ImportOptions& import, const SearchOptions& options,
                                  Model& model);

}  // namespace yuba

#endif  // YUBA_COMPILER_SEARCH_SPACES_H_
