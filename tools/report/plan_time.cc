// What a plan takes on its machine: its program's step, predicted, and what the search made small.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tools/report/plan_report.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr char kLabel[] = "TIME           ", kIndent[] = "               ";

// "kernels 1.2 ms, exchanges 0.3 ms": what takes any time.
std::string PartsText(const search::PredictedRun& run) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, int64_t nanoseconds) {
    if (nanoseconds > 0) parts.push_back(absl::StrCat(what, " ", Duration(nanoseconds)));
  };
  add("kernels", run.kernels);
  add("exchanges", run.exchanges);
  add("waiting for devices", run.waiting);
  add("for the host", run.starting);
  return absl::StrJoin(parts, ", ");
}

std::string RunText(const search::PredictedRun& run, const std::string& of) {
  std::string text = absl::StrCat(Duration(run.step), of, ": ", PartsText(run), "\n");
  if (run.ordered != run.step || run.fast != run.step) {
    absl::StrAppend(&text, kIndent, Duration(run.ordered), " with --sums ordered, ",
                    Duration(run.fast), " with --sums fast\n");
  }
  return text;
}

}  // namespace

std::string TimeText(const search::PlanFile& plan, const std::string& no_machine) {
  const auto& machine = plan.space.objective.machine();
  if (machine == nullptr && !no_machine.empty()) {
    return absl::StrCat(kLabel, "not predicted: ", no_machine, "\n");
  }
  if (machine == nullptr) {
    return absl::StrCat(kLabel, "not predicted: no machine is named, plans are for fewest bytes ",
                        "(--machine NAME)\n");
  }
  std::string text;
  for (const search::PredictedRun& run : plan.notes.predicted) {
    const std::string of = absl::StrCat(
        plan.notes.predicted.size() == 1 ? " a step" : absl::StrCat(" a run of ", run.entry),
        " on ", machine->name, ", predicted");
    absl::StrAppend(&text, text.empty() ? kLabel : kIndent, RunText(run, of));
  }
  if (plan.notes.predicted.empty()) {
    absl::StrAppend(&text, kLabel, "not predicted on ", machine->name, ": ", plan.notes.unpredicted,
                    "\n");
  }
  return absl::StrCat(
      text, kIndent, "each exchange and kernel by itself: ", Duration(plan.time.all()), " ",
      SpanText(!plan.entries.empty()), ", exchanges ", Duration(plan.time.exchanges), ", kernels ",
      Duration(plan.time.kernels), "\n");
}

nlohmann::ordered_json TimeJson(const search::PlanFile& plan) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const search::PredictedRun& run : plan.notes.predicted) {
    runs.push_back({{"entry", run.entry},
                    {"step", run.step},
                    {"kernels", run.kernels},
                    {"exchanges", run.exchanges},
                    {"waiting", run.waiting},
                    {"starting", run.starting},
                    {"ordered", run.ordered},
                    {"fast", run.fast}});
  }
  const auto& machine = plan.space.objective.machine();
  if (machine == nullptr) return nullptr;
  return {{"machine", machine->name},
          {"machine_hash", machine->hash},
          {"exchanges", plan.time.exchanges},
          {"kernels", plan.time.kernels},
          {"predicted", std::move(runs)}};
}

}  // namespace yuba::tools
