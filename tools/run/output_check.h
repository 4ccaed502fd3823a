// `--expect`: outputs of a run against expected ones.
#ifndef YUBA_TOOLS_RUN_OUTPUT_CHECK_H_
#define YUBA_TOOLS_RUN_OUTPUT_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_data.h"
#include "runtime/session.h"
#include "tools/run/data/batches.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// Collects the verdicts of the steps of one run. Example:
//   OutputCheck check(flags);
//   check.Check(session, {"y"}, expected, 0);  // prints "ok   y: largest difference 1e-7 where
//   ..." return check.Result();
class OutputCheck {
 public:
  // `flags` must outlive this.
  explicit OutputCheck(const RunFlags& flags);

  // Compares the outputs of these names with what is expected of them, where anything is, and
  // prints a line for each. `step` is its number where steps are checked one by one, else 0. An
  // error of Session::Get.
  absl::Status Check(runtime::Session& session, const std::vector<std::string>& outputs,
                     const Expected& expected, int64_t step);

  // FailedPrecondition where an output was not what was expected, or where of all that was expected
  // nothing could be compared. Nothing expected: OK.
  absl::Status Result() const;
  // What --json prints of the check.
  const nlohmann::ordered_json& verdict() const { return verdict_; }

 private:
  const RunFlags& flags_;
  nlohmann::ordered_json verdict_;
  bool wrong_ = false;     // some output is not what was expected, or nothing but NaN in both
  bool differs_ = false;   // some output is not what was expected
  bool compared_ = false;  // some element was compared
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_OUTPUT_CHECK_H_
