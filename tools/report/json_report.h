// What commands print with --json: one object, also where they fail.
#ifndef YUBA_TOOLS_REPORT_JSON_REPORT_H_
#define YUBA_TOOLS_REPORT_JSON_REPORT_H_

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace yuba::tools {

// Returns `status`. Where `json`, prints one object on stdout: "ok", "error" (empty where ok), then
// the fields that the command put into `report` as far as it got.
absl::Status Reported(bool json, const absl::Status& status, const nlohmann::ordered_json& report);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_JSON_REPORT_H_
