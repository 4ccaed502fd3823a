// What each device did when, as Chrome's trace format: chrome://tracing and Perfetto show it.
#ifndef YUBA_TOOLS_REPORT_TRACE_FILE_H_
#define YUBA_TOOLS_REPORT_TRACE_FILE_H_

#include <string>

#include "runtime/session.h"

namespace yuba::tools {

// Of a session that was opened with RunOptions::trace: a track for each device, an event for each
// instruction with its node, the node of the user's model and its place in the program.
std::string FormatTrace(const runtime::Session& session);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_TRACE_FILE_H_
