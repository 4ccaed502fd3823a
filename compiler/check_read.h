// Whether a state that was read from a dump says what is so. It reads well, or ReadState would have
// refused it; but somebody may have changed what it says of its model, its graph or its plan.
// Errors are of the user (InvalidArgument) and begin with the place, as `FILE:LINE:COLUMN: error:`.
//
// Example: a plan with "memory = 100 : i64" whose program allocates 16256 bytes is refused where
// its yuba.graph stands.
#ifndef YUBA_COMPILER_CHECK_READ_H_
#define YUBA_COMPILER_CHECK_READ_H_

#include "absl/status/status.h"
#include "compiler/compilation.h"
#include "compiler/dump/state.h"

namespace yuba::compiler {

// What can be seen without the model's file:
// - the hash is that of the graph, and the copies and partials are those of the plan's space (not
//   where there are accumulators: what the model's graph was is then not to be seen);
// - the nodes of that graph are in an order that import or the phase `order` may leave (likewise);
// - the plan is legal, moves what it says, and its program keeps to its limit on memory;
// - a program is of this graph.
// plan.replayed says from here on whether the bound was replayed here: false where `replay` is.
absl::Status CheckRead(const StatePlaces& places, bool replay, Compilation& compilation);

// Whether the graph is that of request.model_file as request.import reads it, with what the plan's
// space adds: names, operators and definitions. `ordered`: the state is one behind the phase
// `order`. Also the errors of the import.
absl::Status CheckOfModel(const StatePlaces& places, bool ordered, const Compilation& compilation);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CHECK_READ_H_
