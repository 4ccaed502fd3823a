// What each device did when, as JSON in Chrome's trace format, which chrome://tracing and Perfetto
// show.
#ifndef YUBA_TOOLS_REPORT_TRACE_FILE_H_
#define YUBA_TOOLS_REPORT_TRACE_FILE_H_

#include <string>
#include <vector>

#include "runtime/model/predict.h"
#include "runtime/session.h"
#include "tools/report/predicted_times.h"

namespace yuba::tools {

// The trace of a session that was opened with RunOptions::trace: a track for each device, an event
// for each instruction with its step, its number, its node and the node of the user's model.
// Kernels have the bytes, points, operations and class of runtime/program/work.h, the type that
// they compute in and whether a library does, and then its call (library_call.h); exchanges the
// bytes that the device receives from others. With `predicted`, which may be null, each has also
// the milliseconds that were predicted for all of the instruction. An exchange that waits in
// between has several events, each with all of these bytes and milliseconds.
std::string FormatTrace(const runtime::Session& session, const PredictedTimes* predicted);

// The same of runs that were predicted, one after the other: a track for each class of devices
// (runtime/model/steps.h), under the number of its first device.
std::string FormatPredictedTrace(const runtime::LoadedProgram& program,
                                 const std::vector<runtime::Prediction>& predictions);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_TRACE_FILE_H_
