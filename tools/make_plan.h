// A plan made as flags ask for it: the compiler's phases up to the search, and the text of the plan
// file.
#ifndef YUBA_TOOLS_MAKE_PLAN_H_
#define YUBA_TOOLS_MAKE_PLAN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "search/search_options.h"
#include "tools/command.h"
#include "tools/flags/partition_flags.h"
#include "tools/interrupt.h"

namespace yuba::tools {

// What the plan level by level moves, where the search has made one as a start, and of which graph.
struct LevelByLevel {
  bool factors = true;
  size_t tensors = 0, nodes = 0;
  int64_t bytes = 0;
  bool IsOf(const Graph& graph, const search::Plan& plan) const {
    return nodes > 0 && nodes == graph.nodes.size() && tensors == graph.tensors.size() &&
           factors == plan.space.factors;
  }
};

struct MadePlan {
  LoadedModel loaded;  // its graph has the plan's copies
  Graph bare;          // without them
  search::Plan plan;
  search::SearchOptions options;  // that were searched with
  LevelByLevel by_level;
  std::string no_machine;                  // why none was found; empty where there is one
  double seconds = 0, search_seconds = 0;  // of all phases, and of the search alone
  std::string text;  // of the plan file; empty where --to ended before there was a plan
};

// Whether there is no plan yet behind the phase of this name.
bool IsBeforeSearch(const std::string& phase);

// Runs the phases up to the plan, or as far as --to says; with --dump each state is written.
// `before_search` is called when all inputs are known and the search begins; its error ends it.
// `note` is set then: before that there is nothing to show, and Ctrl-C ends the program. Sets
// flags.model.factors to what the plan has.
absl::StatusOr<MadePlan> MakePlan(PartitionFlags& flags,
                                  const std::function<absl::Status()>& before_search,
                                  absl::optional<InterruptNote>& note);

// The flags that the plan was made with, for so many devices in the place of its own. `model` is
// the file and what is not in plans. Pins are left out, since they name axes of the plan's mesh.
absl::StatusOr<PartitionFlags> FlagsOfPlan(const search::PlanFile& file, ModelFlags model,
                                           int devices);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_MAKE_PLAN_H_
