// What each device did when, as JSON in Chrome's trace format, which chrome://tracing and Perfetto
// show.
#ifndef YUBA_TOOLS_REPORT_TRACE_FILE_H_
#define YUBA_TOOLS_REPORT_TRACE_FILE_H_

#include <string>

#include "runtime/session.h"

namespace yuba::tools {

// The trace of a session that was opened with RunOptions::trace: a track for each device, an event
// for each instruction with its step, its number, its node and the node of the user's model.
// Kernels have the bytes and points of runtime/program/work.h, the type that they compute in and
// whether a library does; exchanges the bytes that the device receives from others. An exchange
// that waits in between has several events, each with all of these bytes.
std::string FormatTrace(const runtime::Session& session);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_TRACE_FILE_H_
