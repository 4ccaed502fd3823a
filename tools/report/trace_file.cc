#include "tools/report/trace_file.h"

#include <numeric>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/machine/machine_words.h"
#include "runtime/program/tables.h"
#include "runtime/program/work.h"

namespace yuba::tools {
namespace {

using nlohmann::ordered_json;

std::string NameOf(const program::Instruction& instruction) {
  if (instruction.has_kernel()) return program::NodeNames(instruction.kernel());
  return (instruction.exchange().reduce() ? "reduce " : "gather ") +
         instruction.exchange().tensor();
}

// What an instruction has to do on a device, which is the same in all of its runs.
void AddWork(const runtime::Session& session, int device, int number, ordered_json& args) {
  const program::Program& program = session.program().message();
  const program::Instruction& instruction = session.program().instructions()[number];
  if (instruction.has_kernel()) {
    const program::Work work =
        program::WorkOn(program, session.program().mesh(), instruction.kernel(), device);
    args["bytes"] = static_cast<int64_t>(work.kernel.bytes);
    args["points"] = work.points;
    args["operations"] = work.kernel.operations;
    args["class"] = KernelClassName(work.kernel.kernel_class);
    args["type"] = Name(work.kernel.type);
    args["library"] = work.kernel.library;
    return;
  }
  const std::vector<int64_t>& received = session.exchange_plan(number).devices[device].received;
  args["bytes"] = std::accumulate(received.begin(), received.end(), int64_t{0});
}

ordered_json Event(const runtime::Session& session, int device, const runtime::TraceEvent& event) {
  const program::Instruction& instruction = session.program().instructions()[event.instruction];
  ordered_json json;
  json["name"] = NameOf(instruction);
  json["cat"] = event.waiting ? "wait" : instruction.has_kernel() ? "kernel" : "exchange";
  json["ph"] = "X";  // a complete event; times are in microseconds
  json["ts"] = event.begin * 1e6;
  json["dur"] = (event.end - event.begin) * 1e6;
  json["pid"] = 0;
  json["tid"] = device;
  json["args"]["step"] = event.step;
  json["args"]["instruction"] = event.instruction;
  if (instruction.has_kernel()) {
    const std::string from = program::Origins(instruction.kernel());
    if (!from.empty()) json["args"]["from"] = from;
  }
  if (instruction.has_exchange()) json["args"]["for"] = instruction.exchange().node();
  if (!event.waiting) AddWork(session, device, event.instruction, json["args"]);
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
      events.push_back(Event(session, device, event));
    }
  }
  // Names come from the user's model and need not be UTF-8.
  return ordered_json{{"traceEvents", std::move(events)}}.dump(
             0, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace yuba::tools
