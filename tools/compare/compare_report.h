// The rows of `yuba compare`, as a table and as JSON.
#ifndef YUBA_TOOLS_COMPARE_COMPARE_REPORT_H_
#define YUBA_TOOLS_COMPARE_COMPARE_REPORT_H_

#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "tools/compare/candidates.h"

namespace yuba::tools {

// A line for each, and below what they are and where they differ from the first, the default.
std::string CompareText(const std::vector<Candidate>& candidates);
// The field `plans` of --json.
nlohmann::ordered_json CompareJson(const std::vector<Candidate>& candidates);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMPARE_COMPARE_REPORT_H_
