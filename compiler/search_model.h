// What the search needs of the compiler: the model's graphs, with factors and without, and the
// memory that a plan's program allocates. The search decides between them (search/search.h).
#ifndef YUBA_COMPILER_SEARCH_MODEL_H_
#define YUBA_COMPILER_SEARCH_MODEL_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::compiler {

// The size of the arena that the plan's program needs: bytes a device, equal on all devices,
// without the workspaces that libraries take for themselves. It depends on the buffers of spmd/ and
// the offsets of memory/, so the search cannot count it. Each node has a kernel of its own there.
// `plan` must be of `graph` as it is, with its copies.
int64_t ArenaBytes(const Graph& graph, const search::Plan& plan);
// The same of a program of the plan that is there already, as the phase `spmd` makes it.
int64_t ArenaBytesOf(program::Program program, const search::Plan& plan);

// Nanoseconds of a step of the plan's program on the objective's machine, as
// SearchOptions::step_of; the plan is of the model's graph.
using StepOfPlan = std::function<absl::StatusOr<int64_t>(const Model&, const search::Plan&)>;

// search::SearchSpaces on the model, which stands behind the phase `cluster`: its graph shares
// nothing yet and has factors where options.factors says so. A limit on memory is one on
// ArenaBytes. `model` becomes the one that the plan is of: with the copies, accumulators and
// partials that plan.space states, and, where the plan of the flat dimensions is better
// (options.flat_too), made anew of what the file had (WithFactors of phases.h). Errors are those of
// SearchSpaces; `model` is then unchanged. What the search left out is a line of model.notes; the
// flat dimensions are, where the model has no source.
// With `step_of` a baseline's plan that has a shorter step is the answer.
absl::StatusOr<search::Plan> SearchModel(search::SearchOptions options, Model& model,
                                         const StepOfPlan& step_of = nullptr);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SEARCH_MODEL_H_
