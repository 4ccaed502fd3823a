// What `yuba op` prints of an operator.
#ifndef YUBA_TOOLS_OP_REPORT_H_
#define YUBA_TOOLS_OP_REPORT_H_

#include <string>

#include "opsemantics/ast.h"

namespace yuba {

std::string OperatorText(const OpDescription& op);
std::string OperatorJson(const OpDescription& op);

}  // namespace yuba

#endif  // YUBA_TOOLS_OP_REPORT_H_
