// A search, and what its program takes on a machine: a row of the paper's tables.
#ifndef YUBA_TOOLS_BENCH_PAPER_SCHEDULED_PLAN_H_
#define YUBA_TOOLS_BENCH_PAPER_SCHEDULED_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/machine/machine.h"
#include "search/search_options.h"

namespace yuba::tools {

struct ScheduledPlan {
  std::string search;  // whose plan it is
  int64_t bytes = 0;   // moved in a step
  double step = 0;     // seconds, predicted
  double kernels = 0;  // of them, as a mean over the devices
  int64_t arena = 0;   // bytes a device
  double search_seconds = 0;
  double communication() const { return step > 0 ? 1 - kernels / step : 0; }  // share of the step
};

// What others published, by the name that --search takes: for fewest bytes, without copies.
search::SearchOptions AsPublished(const std::string& search,
                                  std::shared_ptr<const Machine> machine);
// The default on this machine: least time, with replicas, within its memory, and scheduled.
search::SearchOptions OurDefault(const std::shared_ptr<const Machine>& machine);

// The plan of so many devices of options.objective's machine; 0: of all. FailedPrecondition where
// none fits.
absl::StatusOr<ScheduledPlan> Schedule(compiler::Model model, search::SearchOptions options,
                                       int devices = 0);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_PAPER_SCHEDULED_PLAN_H_
