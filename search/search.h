// The search: the plan that moves the fewest bytes.
#ifndef YUBA_SEARCH_SEARCH_H_
#define YUBA_SEARCH_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/budget.h"
#include "search/domain.h"
#include "search/pin.h"
#include "search/plan.h"

namespace yuba {

class KnownTables;

struct SearchOptions {
  Mesh mesh;
  Nesting nesting = Nesting::kFree;
  bool factors = true;             // whether the graph was imported with them; the plan says so
  std::string search = "default";  // or "recursive": level by level, as Tofu; or a baseline's name
  int64_t table_cells = int64_t{1} << 26;  // exact elimination only where its tables fit
  std::vector<Pin> pins;
  std::vector<std::string> pin_texts;  // more of them, as people write them (pin_text.h)
  int copies = 0;  // W: the window, in nodes, in which readers may share a copy; 0: none
  // "all" that there can be, "none"; "auto": all, where there are copies and the search stays
  // exact. (Where it does not, compiler/search_spaces.h tries both.)
  std::string accumulators = "auto";
  std::string replicate = "none";  // or "auto": stored tensors may be replicated
  int64_t memory_limit = 0;        // bytes a device; 0: none
  // What a plan's program needs, in bytes a device, which is more than the search can count; may be
  // empty.
  std::function<int64_t(const Plan&)> memory_of;
  // Of a plan that is known: within a limit, or with replicas, others are of use only where they
  // move less; 0: there is none.
  int64_t known_bytes = 0;
  double time_limit = 0;  // seconds; 0: none
  int threads = 1;        // the plan is the same for any number
  // What other searches have counted, on the same mesh or another; null: nothing. Not for two
  // searches at a time.
  std::shared_ptr<KnownTables> known_tables;
  // Whether somebody asks for the end; called from all threads, may be empty.
  Budget::Asked asked;
};

// The options with what the budget leaves of their time.
SearchOptions InTimeLeft(SearchOptions options, const Budget& budget);

// The texts of the options' pins, each once, and the options without the pins of one text. Pins
// that nobody wrote are those of "".
std::vector<std::string> PinTexts(const SearchOptions& options);
SearchOptions WithoutPin(SearchOptions options, const std::string& text);

// "default", "recursive" and the baselines (baselines/baselines.h).
std::vector<std::string> SearchNames();

// The graph that these options plan: `bare` with copies, accumulators and, unless there are pins,
// partials.
Graph SharedGraph(const Graph& bare, const SearchOptions& options);

// A plan for `graph`, which has its copies, accumulators and partials already (SharedGraph); with
// pins its lower bound is that of all plans, so that the gap is what the pins cost, and where they
// leave no choice the plan is only priced. Deterministic, independent of names and of the order of
// nodes in the file beyond ties, unless something stops it: then the plan says so, and is the best
// by then with what was proved by then. An error where a pin cannot be satisfied, and where nothing
// within a limit on memory was found before the end; Cancelled where that is asked for before the
// search begins.
absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options);

// What each pin costs: the bytes that the plan, which Search found with these options, moves more
// than the plan without the pins of that text. Those for which there is no time are left out.
struct PinPrice {
  std::string text;
  int64_t bytes = 0;
};
absl::StatusOr<std::vector<PinPrice>> PricesOfPins(const Graph& graph, const SearchOptions& options,
                                                   const Plan& plan);

}  // namespace yuba

#endif  // YUBA_SEARCH_SEARCH_H_
