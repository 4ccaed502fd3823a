#include "tools/compare/compare_report.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tools/compare/differences.h"
#include "tools/flags/machine_defaults.h"
#include "tools/report/plan_report.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

// "+ 12.3 %", "× 3.1": `value` against `ours`.
std::string Against(int64_t value, int64_t ours) {
  if (value == ours) return "as many";
  if (ours == 0) return "";
  const double ratio = static_cast<double>(value) / static_cast<double>(ours);
  return ratio >= 2
             ? absl::StrFormat("× %.1f", ratio)
             : absl::StrFormat("%s %.1f %%", ratio < 1 ? "−" : "+", 100 * std::abs(ratio - 1));
}

nlohmann::ordered_json KindsJson(const search::PlanCost& cost) {
  return {{"weight", cost.weight},
          {"activation", cost.activation},
          {"partial", cost.partial},
          {"halo", cost.halo}};
}

// What a plan moves more than the default, less where it is negative.
nlohmann::ordered_json MoreJson(const search::PlanCost& cost, const search::PlanCost& ours) {
  return {{"bytes", cost.bytes() - ours.bytes()},
          {"by_kind", KindsJson({cost.weight - ours.weight, cost.activation - ours.activation,
                                 cost.partial - ours.partial, cost.halo - ours.halo})}};
}

}  // namespace

std::string CompareText(const std::vector<Candidate>& candidates) {
  const Candidate& ours = candidates[0];
  const bool timed = ours.plan.space.objective.machine() != nullptr;
  TextTable table(1);
  std::vector<std::string> head = {"search", "moved", "against default", "weights", "activations",
                                   "sums",   "halos", "peak a device",   "search s"};
  if (timed) {
    head.insert(head.begin() + 1,
                {"step", "against default", "objective", "of it exchanges", "fits"});
  }
  table.Add(head);
  for (const Candidate& c : candidates) {
    const search::PlanCost& cost = c.plan.cost;
    std::vector<std::string> row = {
        c.name,
        Bytes(cost.bytes()),
        Against(cost.bytes(), ours.plan.cost.bytes()),
        Bytes(cost.weight),
        Bytes(cost.activation),
        Bytes(cost.partial),
        Bytes(cost.halo),
        Bytes(c.peak_memory),
        absl::StrFormat("%.2f%s", c.seconds, c.plan.stopped.empty() ? "" : ", cut short")};
    const search::PlanTime& time = c.plan.time;
    if (timed) {
      const double share = 100.0 * static_cast<double>(time.exchanges) /
                           static_cast<double>(std::max<int64_t>(1, time.all()));
      const bool fits = c.arena <= RoomOn(*c.plan.space.objective.machine());
      row.insert(row.begin() + 1,
                 {c.step == 0 ? "–" : Duration(c.step), Against(c.step, ours.step),
                  Duration(time.all()), absl::StrFormat("%.1f %%", share), fits ? "yes" : "no"});
    }
    table.Add(row);
  }
  const char* const legend =
      timed ? "step: predicted from the program; objective: each exchange and kernel by itself\n"
            : "";
  std::string text = absl::StrCat(table.ToString(), legend,
                                  "\nwhat they are, and what they move more than the default:\n");
  for (const Candidate& c : candidates) {
    absl::StrAppend(&text, "  ", c.name, ": ", c.what, " (", SpaceText(c.plan.space), ")\n");
    for (const std::string& remark : c.remarks) absl::StrAppend(&text, "      ", remark, "\n");
    if (c.held_besides > 0) {
      absl::StrAppend(&text, "      that takes ", Bytes(c.held_besides), " more on each device\n");
    }
    const std::string words = Words(c, ours);
    if (&c != &ours && !words.empty()) absl::StrAppend(&text, "      ", words, "\n");
  }
  return text;
}

nlohmann::ordered_json CompareJson(const std::vector<Candidate>& candidates) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Candidate& c : candidates) {
    const search::PlanCost& cost = c.plan.cost;
    nlohmann::ordered_json bound, asked;  // null where none is known
    if (c.plan.proof.kind != search::ProofKind::kNone || c.plan.value() == 0) {
      bound = c.plan.lower_bound;
      if (c.plan.asked_bound > 0 || c.plan.value() == 0) asked = c.plan.asked_bound;
    }
    rows.push_back({{"search", c.name},
                    {"what", c.what},
                    {"objective", search::WordOf(c.plan.space.objective.kind())},
                    {"bytes", cost.bytes()},
                    {"lower_bound", bound},
                    {"asked_lower_bound", asked},
                    {"replayed", c.plan.replayed},
                    {"by_kind", KindsJson(cost)},
                    {"nesting", search::WordOf(c.plan.space.nesting)},
                    {"factors", c.plan.space.factors},
                    {"copies", c.plan.space.copies},
                    {"replicate", search::WordOf(c.plan.space.replicate)},
                    {"peak_memory", c.peak_memory},
                    {"held_besides", c.held_besides},
                    {"seconds", c.seconds},
                    {"stopped", c.plan.stopped},
                    {"remarks", c.remarks},
                    {"more_than_default", MoreJson(cost, candidates[0].plan.cost)}});
    if (c.plan.space.objective.machine() != nullptr) {
      rows.back()["nanoseconds"] = {{"exchanges", c.plan.time.exchanges},
                                    {"kernels", c.plan.time.kernels}};
      rows.back()["predicted_step"] =
          c.step == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(c.step);
      rows.back()["fits"] = c.arena <= RoomOn(*c.plan.space.objective.machine());
    }
  }
  return rows;
}

}  // namespace yuba::tools
