// What a search is asked for: the mesh, the space of plans, limits on memory and time.
//
// The defaults plan all mesh axes at once, with free nesting, nothing replicated and no limit; only
// `mesh` must be set. Example: options.mesh = MeshOf(8); options.copies = true;
// options.memory_limit = 60'000'000.
#ifndef YUBA_SEARCH_SEARCH_OPTIONS_H_
#define YUBA_SEARCH_SEARCH_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"
#include "search/solve/budget.h"
#include "search/space/domain.h"
#include "search/space/pin.h"

namespace yuba::search {

class TableCache;

// What an engine of the search added.
struct EngineReport {
  std::string engine;  // its name; "plain/axes": engine "axes" in the search of engine "plain"
  double seconds = 0;
  ObjectiveKind objective = ObjectiveKind::kBytes;
  // The value of the best plan and the best lower bound, before it ran and after. 10^18: there is
  // no plan.
  int64_t before = 0, value = 0, bound_before = 0, bound = 0;
};

// Where a search stands: what the engine at work has, or the search began with.
struct SearchProgress {
  std::string engine;  // as in EngineReport
  ObjectiveKind objective = ObjectiveKind::kBytes;
  int64_t value = 0, bound = 0;  // of the best plan and the best lower bound so far; 10^18: there
                                 // is no plan
};

struct SearchOptions {
  Mesh mesh;  // under time axes of greater kinds come first (HasKindsOutermostFirst)
  Objective objective;
  Nesting nesting = Nesting::kFree;
  bool factors = true;    // whether the graph has them; the plan says so
  bool flat_too = false;  // besides the graph with factors, search the one with flat dimensions
  std::string search = "default";  // or "recursive": level by level, as Tofu; or a baseline's name
  int64_t table_cells = int64_t{1} << 26;  // exact elimination only where its tables fit
  std::vector<Pin> pins;
  std::vector<std::string> pin_texts;  // more pins, as people write them (pin_text.h)
  bool copies = false;                 // whether the readers of a tensor may share a copy of it
  // kAuto: where there are copies and no pins by number, all; SearchSpaces also tries none.
  Accumulators accumulators = Accumulators::kAuto;
  bool partials = true;  // with replicas: whether sums may stay unreduced (rewrite/partials.h)
  Replicate replicate = Replicate::kNone;
  int64_t memory_limit = 0;  // bytes a device; 0: none
  // The bytes a device that the program of a plan of this graph allocates, which is more than the
  // search can count. The limit holds for this. May be empty: then the search's own count decides.
  std::function<int64_t(const Graph&, const Plan&)> memory_of;
  // Nanoseconds of a step of the program of a plan of this graph, on the objective's machine, with
  // all that a schedule hides, which the search cannot count; an error where they cannot be
  // predicted. May be empty: then the objective decides alone.
  std::function<absl::StatusOr<int64_t>(const Graph&, const Plan&)> step_of;
  // The value of a plan known from elsewhere; 0: there is none. Dearer plans are of no use, with a
  // limit on memory or with replicas neither are equal ones.
  int64_t known_value = 0;
  double time_limit = 0;  // seconds; 0: none
  int threads = 1;        // the plan is the same for any number
  // Tables that other searches have computed, on any mesh, and where this search adds its own;
  // null: none. Not for two searches at a time.
  std::shared_ptr<TableCache> table_cache;
  std::vector<std::string> without;  // engines to leave out, by name (EngineNames)
  // Called after each engine; may be empty.
  std::function<void(const EngineReport&)> report;
  // Called before each engine, and with each better plan and bound; may be empty.
  std::function<void(const SearchProgress&)> progress;
  // Called with the bytes that the plan level by level moves, where an engine makes one of the
  // graph that is searched first, free of limits and pins; may be empty.
  std::function<void(const Graph&, int64_t bytes)> by_level;
  // Called with each bound that is higher than all before it of the same graph: a plan that states
  // mesh, space, bound and proof, and has no choices. For tests, which replay the proof; may be
  // empty.
  std::function<void(const Graph&, const Plan&)> check_bound;
  // Whether somebody asks for the end; called from all threads, may be empty.
  Budget::Asked asked;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SEARCH_OPTIONS_H_
