#include "tools/report/trace_file.h"

#include "nlohmann/json.hpp"
#include "runtime/program/tables.h"

namespace yuba::tools {
namespace {

using nlohmann::ordered_json;

std::string NameOf(const runtime::Instruction& instruction) {
  if (instruction.kernel != nullptr) return program::NodeNames(*instruction.kernel);
  return (instruction.exchange->reduce() ? "reduce " : "gather ") + instruction.exchange->tensor();
}

ordered_json Event(const runtime::LoadedProgram& program, int device,
                   const runtime::TraceEvent& event) {
  const runtime::Instruction& instruction = program.instructions()[event.instruction];
  ordered_json json;
  json["name"] = NameOf(instruction);
  json["cat"] = event.waiting ? "wait" : instruction.kernel != nullptr ? "kernel" : "exchange";
  json["ph"] = "X";  // a complete event; times are in microseconds
  json["ts"] = event.begin * 1e6;
  json["dur"] = (event.end - event.begin) * 1e6;
  json["pid"] = 0;
  json["tid"] = device;
  json["args"]["instruction"] = event.instruction;
  if (instruction.kernel != nullptr) {
    const std::string from = program::Origins(*instruction.kernel);
    if (!from.empty()) json["args"]["from"] = from;
  }
  if (instruction.exchange != nullptr) json["args"]["for"] = instruction.exchange->node();
  return json;
}

}  // namespace

std::string FormatTrace(const runtime::Session& session) {
  ordered_json events = ordered_json::array();
  for (int device = 0; device < session.program().devices(); ++device) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 0},
                      {"tid", device},
                      {"args", {{"name", "device " + std::to_string(device)}}}});
    for (const runtime::TraceEvent& event : session.trace(device)) {
      events.push_back(Event(session.program(), device, event));
    }
  }
  // Names come from the user's model and need not be UTF-8.
  return ordered_json{{"traceEvents", std::move(events)}}.dump(
             0, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace yuba::tools
