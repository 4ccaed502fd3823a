// What `yuba show` shows: a plan file, and where the model is there too, the arena of the plan's
// program, which the file alone does not know.
#ifndef YUBA_TOOLS_SHOWN_PLAN_H_
#define YUBA_TOOLS_SHOWN_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "nlohmann/json_fwd.hpp"
#include "search/file/plan_file.h"
#include "tools/report/arena_report.h"

namespace yuba::tools {

struct ShownPlan {
  search::PlanFile plan;
  absl::optional<ArenaReport> arena;  // nothing where no model was given
};

// `files`: the plan, or the model and the plan, whose program is then made and proved as by
// `partition`. `operators`: files that describe more operators of the model. Errors are those of
// ReadPlan and LoadPlanned, with the file's name.
absl::StatusOr<ShownPlan> LoadShown(const std::vector<std::string>& files,
                                    const std::vector<std::string>& operators);

std::string PageOf(const ShownPlan& shown);  // HTML
// The rows of memory that the plan has by device, and the arena; null where it is not known.
nlohmann::ordered_json MemoryJson(const ShownPlan& shown);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_SHOWN_PLAN_H_
