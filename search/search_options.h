// What a search is asked for.
#ifndef YUBA_SEARCH_SEARCH_OPTIONS_H_
#define YUBA_SEARCH_SEARCH_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "search/plan/plan.h"
#include "search/solve/budget.h"
#include "search/space/domain.h"
#include "search/space/pin.h"

namespace yuba::search {

class TableCache;

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
  std::shared_ptr<TableCache> table_cache;
  // Whether somebody asks for the end; called from all threads, may be empty.
  Budget::Asked asked;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SEARCH_OPTIONS_H_
