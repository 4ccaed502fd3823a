// What `yuba compare` shows: the plans of all searches and baselines of one model.
#ifndef YUBA_TOOLS_COMPARE_CANDIDATES_H_
#define YUBA_TOOLS_COMPARE_CANDIDATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "search/plan/plan.h"
#include "search/search_options.h"

namespace yuba::tools {

struct Candidate {
  std::string name, what;
  Graph graph;  // with the plan's copies
  search::Plan plan;
  double seconds = 0;       // that the search took
  int64_t peak_memory = 0;  // bytes, of the fullest device
  int64_t arena = 0;        // bytes that its program allocates on each
  int64_t step = 0;  // nanoseconds, predicted; 0: there is no machine, or nothing can be predicted
  int64_t held_besides = 0;          // bytes a device, where it is done as its authors say
  std::vector<std::string> remarks;  // on the plan, from the search
};

// The plan of one search (options.search), checked, with the peak of its program. Errors are those
// of the search; a plan that the checker refuses is Internal.
absl::StatusOr<Candidate> TrySearch(compiler::Model model, search::SearchOptions options,
                                    const std::string& name, const std::string& what);

// The row `default`: with options.objective's machine, where it has one, the least time with
// replicas and within the memory of its devices (tools/flags/machine_defaults.h); where nothing
// that fits was found, the plan without the limit, and a remark says so.
absl::StatusOr<Candidate> TryDefault(const compiler::Model& model, search::SearchOptions options,
                                     const std::string& what);

// A row for each search, the default first; products of baselines where they differ from their
// parts on this mesh. With `copies` plans share copies. `options` are mesh, objective and limits of
// time; its search is not looked at. After Ctrl-C those that were done by then. Errors are those of
// the search; a plan that the checker refuses is Internal.
absl::StatusOr<std::vector<Candidate>> TryAll(const compiler::Model& model,
                                              search::SearchOptions options, bool copies);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMPARE_CANDIDATES_H_
