#include "tools/report/trace_file.h"

#include <numeric>
#include <utility>

#include "nlohmann/json.hpp"
#include "opsemantics/machine/machine_words.h"
#include "runtime/program/tables.h"
#include "runtime/program/work.h"
#include "tools/report/library_call.h"

namespace yuba::tools {
namespace {

using nlohmann::ordered_json;

std::string NameOf(const program::Instruction& instruction) {
  if (instruction.has_kernel()) return program::NodeNames(instruction.kernel());
  return (instruction.exchange().reduce() ? "reduce " : "gather ") +
         instruction.exchange().tensor();
}

// What a kernel has to do on a device, which is the same in all of its runs.
void AddWork(const runtime::LoadedProgram& program, int device, const program::Kernel& kernel,
             ordered_json& args) {
  const program::Work work = program::WorkOn(program.message(), program.mesh(), kernel, device);
  args["bytes"] = static_cast<int64_t>(work.kernel.bytes);
  args["points"] = work.points;
  args["operations"] = work.kernel.operations;
  args["class"] = KernelClassName(work.kernel.kernel_class);
  args["type"] = Name(work.kernel.type);
  args["library"] = work.kernel.library;
  if (!program.message().functions(kernel.function()).has_library()) return;
  ordered_json call = LibraryCallJson(program, kernel, device);
  if (!call.is_null()) args["call"] = std::move(call);
}

// An event without what is known of the instruction's work.
ordered_json Event(const runtime::LoadedProgram& program, int device,
                   const runtime::TraceEvent& event) {
  const program::Instruction& instruction = program.instructions()[event.instruction];
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
  if (!event.waiting && instruction.has_kernel())
    AddWork(program, device, instruction.kernel(), json["args"]);
  return json;
}

ordered_json TrackName(int device, const std::string& name) {
  return {{"name", "thread_name"},
          {"ph", "M"},
          {"pid", 0},
          {"tid", device},
          {"args", {{"name", name}}}};
}

std::string TextOf(ordered_json events) {
  // Names come from the user's model and need not be UTF-8.
  return ordered_json{{"traceEvents", std::move(events)}}.dump(
             0, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

// The events of one class of devices, the predictions one after the other.
void AddClass(const runtime::LoadedProgram& program,
              const std::vector<runtime::Prediction>& predictions, int device,
              ordered_json& events) {
  double start = 0;
  for (size_t p = 0; p < predictions.size(); ++p) {
    const runtime::StepList& list = predictions[p].list;
    const int of_class = list.class_of[device];
    for (const runtime::SimulatedEvent& event :
         predictions[p].simulation.classes[of_class].events) {
      const runtime::Step& step = list.steps[event.step];
      ordered_json json = Event(program, device,
                                {static_cast<int>(p), step.instruction, event.waiting,
                                 start + event.begin, start + event.end});
      if (step.exchange && !event.waiting) {
        double bytes = 0;
        for (const runtime::Inflow& inflow : list.exchanges[step.row][of_class].inflows)
          bytes += inflow.bytes;
        json["args"]["bytes"] = static_cast<int64_t>(bytes);
      }
      json["args"]["predicted_ms"] = 1e3 * (event.end - event.begin);
      events.push_back(std::move(json));
    }
    start += predictions[p].seconds;
  }
}

}  // namespace

std::string FormatTrace(const runtime::Session& session, const PredictedTimes* predicted) {
  const runtime::LoadedProgram& program = session.program();
  ordered_json events = ordered_json::array();
  for (int device = 0; device < program.devices(); ++device) {
    events.push_back(TrackName(device, "device " + std::to_string(device)));
    for (const runtime::TraceEvent& event : session.trace(device)) {
      ordered_json json = Event(program, device, event);
      if (program.instructions()[event.instruction].has_exchange() && !event.waiting) {
        const std::vector<int64_t>& received =
            session.exchange_plan(event.instruction).devices[device].received;
        json["args"]["bytes"] = std::accumulate(received.begin(), received.end(), int64_t{0});
      }
      const absl::optional<double> milliseconds =
          predicted == nullptr ? absl::nullopt
                               : predicted->Milliseconds(device, event.instruction, event.waiting);
      if (milliseconds.has_value()) json["args"]["predicted_ms"] = *milliseconds;
      events.push_back(std::move(json));
    }
  }
  return TextOf(std::move(events));
}

std::string FormatPredictedTrace(const runtime::LoadedProgram& program,
                                 const std::vector<runtime::Prediction>& predictions) {
  ordered_json events = ordered_json::array();
  if (predictions.empty()) return TextOf(std::move(events));
  // Devices of one class in one entry may be of two in another: a track for each such combination.
  std::map<std::vector<int>, std::vector<int>> tracks;  // devices by their classes
  for (int device = 0; device < program.devices(); ++device) {
    std::vector<int> classes;
    for (const runtime::Prediction& each : predictions)
      classes.push_back(each.list.class_of[device]);
    tracks[classes].push_back(device);
  }
  for (const auto& [classes, devices] : tracks) {
    std::string name = "device " + std::to_string(devices[0]);
    if (devices.size() > 1) name += " and " + std::to_string(devices.size() - 1) + " like it";
    events.push_back(TrackName(devices[0], name));
    AddClass(program, predictions, devices[0], events);
  }
  return TextOf(std::move(events));
}

}  // namespace yuba::tools
