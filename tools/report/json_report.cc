#include "tools/report/json_report.h"

#include <iostream>

#include "nlohmann/json.hpp"

namespace yuba::tools {

absl::Status Reported(bool json, const absl::Status& status, const nlohmann::ordered_json& report) {
  if (!json) return status;
  nlohmann::ordered_json object = {{"ok", status.ok()}, {"error", std::string(status.message())}};
  if (report.is_object()) object.update(report);
  // Names come from the user's model and need not be UTF-8.
  std::cout << object.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  return status;
}

}  // namespace yuba::tools
