// What `yuba op` prints of an operator: its text, and a table of its strategies with what each
// reads of each operand ("whole", "aligned", "aligned, halo"). The table is derived from
// the one of many made-up instances that shows most (TellingInstance).
#ifndef YUBA_TOOLS_REPORT_OP_REPORT_H_
#define YUBA_TOOLS_REPORT_OP_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "opsemantics/language/ast.h"

namespace yuba::tools {

// The text of the description, and how each of its definitions can be cut; an error with its place
// where no operands fit the description.
absl::StatusOr<std::string> OperatorText(const OpDescription& op);
absl::StatusOr<std::string> OperatorJson(const OpDescription& op);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_OP_REPORT_H_
