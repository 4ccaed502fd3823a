#include "tools/compare/machine_rows.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tools/compare/checkpointing.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr double kHour = 3600;

// Bytes that a run needs to go on: all that steps carry, each once.
int64_t CarriedBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (IsCarried(tensor)) bytes += ElementCount(tensor.type) * ByteSize(tensor.type.type);
  }
  return bytes;
}

// Nodes that are paid for and may be lost: those on which the devices are.
double NodesOf(const Machine& machine, int devices) {
  const double a_node = static_cast<double>(machine.devices()) / machine.nodes;
  return std::ceil(devices / a_node);
}

absl::optional<Checkpoints> CheckpointsOf(const Graph& graph, double nodes, const LongRun& run) {
  const int64_t bytes = CarriedBytes(graph);
  if (run.mtbf == 0 || bytes == 0) return absl::nullopt;
  Checkpoints made;
  made.bytes = bytes;
  made.write = static_cast<double>(bytes) / run.checkpoint_bandwidth;
  // After a loss the states are read again, at the rate at which they are written.
  const LossModel losses = {run.mtbf * kHour / nodes, made.write, made.write};
  made.best = BestInterval(losses) / kHour;
  made.interval = run.checkpoint_interval > 0 ? run.checkpoint_interval : made.best;
  made.lengthened = LengthenedBy(losses, made.interval * kHour);
  return made;
}

std::string Hours(double hours) {
  if (!std::isfinite(hours)) return "never ends";
  if (hours < 1) return absl::StrFormat("%.1f min", 60 * hours);
  return absl::StrFormat(hours < 100 ? "%.1f h" : "%.0f h", hours);
}

std::string Dollars(const absl::optional<double>& dollars) {
  if (!dollars.has_value() || !std::isfinite(*dollars)) return "–";
  return absl::StrFormat(*dollars < 100 ? "%.2f $" : "%.0f $", *dollars);
}

std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

// What checkpoints do to the run of a row.
std::string CheckpointText(const MachineRow& row) {
  const Checkpoints& made = *row.checkpoints;
  const double more = 100 * (made.lengthened - 1);
  return absl::StrCat(
      row.machine, ": a checkpoint of ", Bytes(made.bytes), " takes ",
      Duration(static_cast<int64_t>(made.write * 1e9)), "; one every ", Hours(made.interval),
      made.interval == made.best ? ", the best interval," : "", " and what is lost with nodes ",
      std::isfinite(more) ? absl::StrFormat("lengthen the run by %.2f %%", more)
                          : std::string("let the run never end"),
      made.interval == made.best ? "" : absl::StrCat("; the best interval is ", Hours(made.best)));
}

nlohmann::ordered_json OrNull(const absl::optional<double>& value) {
  if (!value.has_value() || !std::isfinite(*value)) return nullptr;
  return *value;
}

}  // namespace

MachineRow RowOf(const Candidate& plan, const Machine& machine, double step_seconds,
                 const LongRun& run) {
  MachineRow row;
  row.machine = machine.name;
  row.devices = plan.plan.mesh.devices();
  row.step_seconds = step_seconds;
  const search::PlanTime& time = plan.plan.time;
  row.exchange_share =
      static_cast<double>(time.exchanges) / static_cast<double>(std::max<int64_t>(1, time.all()));
  row.arena = plan.arena;
  row.room = machine.device.memory - machine.device.reserved;
  row.stopped = plan.plan.stopped;
  const double nodes = NodesOf(machine, row.devices);
  row.checkpoints = CheckpointsOf(plan.graph, nodes, run);
  if (run.steps == 0) return row;
  row.hours = run.steps * step_seconds / kHour;
  if (row.checkpoints.has_value()) *row.hours *= row.checkpoints->lengthened;
  if (machine.price > 0) row.dollars = *row.hours * machine.price * nodes / machine.nodes;
  return row;
}

std::string MachineRowsText(const std::vector<MachineRow>& rows, const LongRun& run) {
  TextTable table(1);
  std::vector<std::string> head = {
      "machine", "devices",       "a step", "exchanges, of the objective",
      "needs",   "room a device", "fits"};
  if (run.steps > 0) head.insert(head.end(), {"run", "price"});
  table.Add(head);
  bool all_fit = true;
  for (const MachineRow& row : rows) {
    all_fit &= row.fits();
    std::vector<std::string> cells = {row.machine + (row.stopped.empty() ? "" : ", cut short"),
                                      absl::StrCat(row.devices),
                                      Duration(static_cast<int64_t>(row.step_seconds * 1e9)),
                                      Percent(row.exchange_share),
                                      Bytes(row.arena),
                                      Bytes(row.room),
                                      row.fits() ? "yes" : "no"};
    if (run.steps > 0) cells.insert(cells.end(), {Hours(*row.hours), Dollars(row.dollars)});
    table.Add(cells);
  }
  std::string text = table.ToString();
  if (run.steps > 0) absl::StrAppend(&text, "the run: ", Count(run.steps), " steps\n");
  for (const MachineRow& row : rows) {
    if (row.checkpoints.has_value()) absl::StrAppend(&text, CheckpointText(row), "\n");
  }
  if (!all_fit) {
    absl::StrAppend(&text,
                    "what does not fit may with another plan: yuba partition --machine NAME "
                    "--memory, or more nodes\n");
  }
  return text;
}

nlohmann::ordered_json MachineRowsJson(const std::vector<MachineRow>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const MachineRow& row : rows) {
    nlohmann::ordered_json checkpoints;  // null where no losses are asked for
    if (row.checkpoints.has_value()) {
      checkpoints = {{"bytes", row.checkpoints->bytes},
                     {"write_seconds", row.checkpoints->write},
                     {"best_interval_hours", row.checkpoints->best},
                     {"interval_hours", row.checkpoints->interval},
                     {"lengthened_by", OrNull(row.checkpoints->lengthened)}};
    }
    all.push_back({{"machine", row.machine},
                   {"devices", row.devices},
                   {"step_seconds", row.step_seconds},
                   {"exchange_share", row.exchange_share},
                   {"arena", row.arena},
                   {"device_memory", row.room},
                   {"fits", row.fits()},
                   {"checkpoints", checkpoints},
                   {"hours", OrNull(row.hours)},
                   {"dollars", OrNull(row.dollars)},
                   {"stopped", row.stopped}});
  }
  return all;
}

}  // namespace yuba::tools
