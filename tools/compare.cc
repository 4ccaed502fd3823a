// yuba compare: the plans of all searches and baselines of one model, side by side.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "compiler/search_model.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "search/baselines/baselines.h"
#include "search/check/check.h"
#include "search/search.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/flags/flag_rows.h"
#include "tools/flags/mesh_flags.h"
#include "tools/flags/space_flag.h"
#include "tools/interrupt.h"
#include "tools/program/plan_notes.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/search_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

struct CompareFlags {
  ModelFlags model;
  MeshFlags mesh;
  std::vector<std::string> space;  // of which it takes copies=all or none
  double time_limit = 0;           // seconds, of each search; 0: none
  bool json = false;
};

constexpr FlagRow<CompareFlags> kRows[] = {
    {"space", &CompareFlags::space, "Space",
     "copies=all or copies=none, as in partition; of the default and the baselines"},
    {"time-limit", &CompareFlags::time_limit, "Search",
     "seconds; then each search ends with its best plan so far", NumberAbove0},
    {"json", &CompareFlags::json, "Output", "print JSON"},
};

struct Candidate {
  std::string name, what;
  Graph graph;  // with the plan's copies
  search::Plan plan;
  double seconds = 0;                // that the search took
  int64_t peak_memory = 0;           // bytes, of the fullest device
  std::vector<std::string> remarks;  // on the plan, from the search
};

absl::StatusOr<Candidate> Try(compiler::Model model, search::SearchOptions options,
                              const std::string& name, const std::string& what) {
  Candidate candidate{name, what, {}, {}, 0, 0, {}};
  const size_t notes_before = model.notes.size();
  const auto start = std::chrono::steady_clock::now();
  options.flat_too = options.search == "default";
  options.asked = InterruptNote::Came;
  options.progress = [](const search::SearchProgress& progress) {
    ProgressLine::Say(ProgressText(progress));
  };
  YUBA_ASSIGN_OR_RETURN(candidate.plan, compiler::SearchModel(options, model));
  candidate.seconds = SecondsSince(start);
  for (size_t n = notes_before; n < model.notes.size(); ++n) {
    candidate.remarks.emplace_back(absl::StripPrefix(model.notes[n], name + ": "));
  }
  if (candidate.plan.stopped.empty()) {  // one that was cut short has no time left for it
    const absl::Status checked = search::CheckPlan(model.graph, candidate.plan);
    if (!checked.ok()) return InternalError("the plan of ", name, ": ", checked.message());
    candidate.plan.replayed = true;
  }
  candidate.graph = model.graph;
  search::PlanNotes notes;
  YUBA_RETURN_IF_ERROR(AddProgramNotes(model, candidate.plan, true, notes));
  for (const search::DeviceMemory& memory : notes.memory) {
    candidate.peak_memory = std::max(candidate.peak_memory, memory.peak);
  }
  return candidate;
}

// The default first. After Ctrl-C those that were done by then.
absl::StatusOr<std::vector<Candidate>> TryAll(const compiler::Model& model,
                                              search::SearchOptions options, bool copies) {
  std::vector<Candidate> candidates;
  auto add = [&](const std::string& name, const std::string& what) -> absl::Status {
    if (InterruptNote::Came() && !candidates.empty()) return absl::OkStatus();
    ProgressLine::Begin(absl::StrCat("row ", candidates.size() + 1, ", ", name));
    absl::StatusOr<Candidate> candidate = Try(model, options, name, what);
    if (absl::IsCancelled(candidate.status()) && !candidates.empty()) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(candidate.status());
    candidates.push_back(*std::move(candidate));
    return absl::OkStatus();
  };
  options.copies = copies;
  const bool time = options.objective.IsTime();
  YUBA_RETURN_IF_ERROR(add(
      "default", time ? "least time, all levels together" : "fewest bytes, all levels together"));
  if (time) {
    const search::Objective objective = options.objective;
    options.objective = search::Objective(search::ObjectiveKind::kBytes, objective.machine());
    YUBA_RETURN_IF_ERROR(add("fewest bytes", "all levels together (--objective bytes)"));
    options.objective = objective;
  }
  options.copies = false;
  if (copies) {
    YUBA_RETURN_IF_ERROR(
        add("no copies", "the same, but every reader gathers for itself (--space copies=none)"));
  }
  options.search = "recursive";
  YUBA_RETURN_IF_ERROR(
      add("recursive", "one level after the other, each the best (Tofu), without copies"));
  options.copies = copies;
  for (const search::Baseline& baseline : search::Baselines()) {
    options.search = baseline.name;
    YUBA_RETURN_IF_ERROR(add(baseline.name, baseline.what));
  }
  return candidates;
}

// "+ 12.3 %", "× 3.1": `value` against `ours`.
std::string Against(int64_t value, int64_t ours) {
  if (value == ours) return "as many";
  if (ours == 0) return "";
  const double ratio = static_cast<double>(value) / static_cast<double>(ours);
  return ratio >= 2
             ? absl::StrFormat("× %.1f", ratio)
             : absl::StrFormat("%s %.1f %%", ratio < 1 ? "−" : "+", 100 * std::abs(ratio - 1));
}

std::vector<int64_t> BytesByNode(const Candidate& candidate) {
  std::vector<int64_t> bytes(candidate.graph.nodes.size(), 0);
  for (const search::Move& move : search::MovesOf(candidate.graph, candidate.plan))
    bytes[move.node] += TimesOf(candidate.graph, move.node) * move.bytes;
  return bytes;
}

// "n in 4 and o in 2", whatever the mesh axes are called.
std::string HowSharded(const Candidate& candidate, NodeId node) {
  std::vector<std::string> words;
  const Sharding& sharding = candidate.plan.nodes[node];
  for (size_t i = 0; i < sharding.axes.size(); ++i) {
    if (sharding.axes[i].empty()) continue;
    words.push_back(absl::StrCat(candidate.graph.nodes[node].definition->indices[i].name, " in ",
                                 PartCount(candidate.plan.mesh, sharding.axes[i])));
  }
  return words.empty() ? "nothing" : absl::StrJoin(words, " and ");
}

// Nodes of like names, of which each of the two plans cuts all in one way.
struct Difference {
  std::string nodes;  // "layer4.*.conv2"
  int count = 0;
  int64_t bytes = 0;         // that `theirs` moves more than `ours` at these nodes
  std::string theirs, ours;  // the partitions, in words
};

// The nodes of both plans where `sign` * (theirs - ours) is largest; count is 0 where it is nowhere
// above 0.
Difference LargestDifference(const Candidate& theirs, const Candidate& ours, int sign) {
  const std::vector<int64_t> here = BytesByNode(theirs), there = BytesByNode(ours);
  std::map<std::string, NodeId> by_name;
  for (size_t n = 0; n < ours.graph.nodes.size(); ++n) {
    by_name[ours.graph.nodes[n].name] = static_cast<NodeId>(n);
  }
  std::map<std::tuple<std::string, std::string, std::string>, Difference> families;
  for (size_t n = 0; n < theirs.graph.nodes.size(); ++n) {
    const auto same = by_name.find(theirs.graph.nodes[n].name);
    if (same == by_name.end()) continue;
    const std::string& name = theirs.graph.nodes[n].name;
    const std::string mine = HowSharded(theirs, static_cast<NodeId>(n)),
                      yours = HowSharded(ours, same->second);
    Difference& family = families[{NamePattern(name), mine, yours}];
    family.nodes = family.count == 0 ? name : CommonPattern(name, family.nodes);
    family.theirs = mine;
    family.ours = yours;
    family.bytes += here[n] - there[same->second];
    ++family.count;
  }
  Difference largest;
  for (const auto& [key, family] : families) {
    if (sign * family.bytes > sign * largest.bytes) largest = family;
  }
  return largest;
}

std::string DifferenceText(const Difference& difference) {
  return absl::StrCat(ShortName(difference.nodes),
                      difference.count > 1 ? absl::StrCat(" (", difference.count, " nodes)") : "",
                      " ", SignedBytes(difference.bytes), ": cut ", difference.theirs,
                      difference.theirs == difference.ours
                          ? " as in the default, but tensors lie otherwise"
                          : ", in the default " + difference.ours);
}

// What the default does differently, in words; "" where both move the same.
std::string Words(const Candidate& theirs, const Candidate& ours) {
  const int64_t more = theirs.plan.cost.bytes() - ours.plan.cost.bytes();
  std::string text = CostChangeText(ours.plan.cost, theirs.plan.cost);
  for (int sign : {more < 0 ? -1 : 1, more < 0 ? 1 : -1}) {
    const Difference difference = LargestDifference(theirs, ours, sign);
    if (difference.count == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", sign > 0 ? "most at " : "least at ",
                    DifferenceText(difference));
    break;
  }
  const int64_t memory = theirs.peak_memory - ours.peak_memory;
  if (more < 0) absl::StrAppend(&text, "; needs ", SignedBytes(memory), " on the fullest device");
  return text;
}

void Print(const std::vector<Candidate>& candidates) {
  const Candidate& ours = candidates[0];
  const bool timed = ours.plan.space.objective.machine() != nullptr;
  TextTable table(1);
  std::vector<std::string> head = {"search", "moved", "against default", "weights", "activations",
                                   "sums",   "halos", "peak a device",   "search s"};
  if (timed) head.insert(head.begin() + 1, {"time", "of it exchanges", "against default"});
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
      row.insert(row.begin() + 1, {Duration(time.all()), absl::StrFormat("%.1f %%", share),
                                   Against(time.all(), ours.plan.time.all())});
    }
    table.Add(row);
  }
  std::cout << table.ToString() << "\nwhat they are, and what they move more than the default:\n";
  for (const Candidate& c : candidates) {
    std::cout << "  " << c.name << ": " << c.what << " (" << SpaceText(c.plan.space) << ")\n";
    for (const std::string& remark : c.remarks) std::cout << "      " << remark << "\n";
    const std::string words = Words(c, ours);
    if (&c != &ours && !words.empty()) std::cout << "      " << words << "\n";
  }
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

nlohmann::ordered_json Json(const std::vector<Candidate>& candidates) {
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
                    {"seconds", c.seconds},
                    {"stopped", c.plan.stopped},
                    {"remarks", c.remarks},
                    {"more_than_default", MoreJson(cost, candidates[0].plan.cost)}});
    if (c.plan.space.objective.machine() != nullptr) {
      rows.back()["nanoseconds"] = {{"exchanges", c.plan.time.exchanges},
                                    {"kernels", c.plan.time.kernels}};
    }
  }
  return rows;
}

absl::Status Compare(const CompareFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const SpaceWords space, ParseSpace(flags.space));
  if (space.dimensions != "default" || space.accumulators != search::Accumulators::kAuto ||
      !space.partials) {
    return UserError("--space ", absl::StrJoin(flags.space, ","),
                     ": compare shows searches in spaces of their own; it ",
                     "takes copies=all or copies=none");
  }
  YUBA_ASSIGN_OR_RETURN(const MeshOnMachine on, MeshOfFlags(flags.mesh));
  const Mesh& mesh = on.mesh;
  YUBA_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  search::SearchOptions options;
  options.mesh = mesh;
  if (on.machine() != nullptr) {
    options.objective = search::Objective(search::ObjectiveKind::kTime, on.machine());
  }
  options.time_limit = flags.time_limit;
  const InterruptNote note("stopping with the rows so far; once more ends at once\n");
  YUBA_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                        TryAll(loaded.model, options, space.copies));
  ProgressLine::End();
  if (flags.json) {
    const nlohmann::ordered_json report = {{"model", BaseName(flags.model.file)},
                                           {"devices", mesh.devices()},
                                           {"mesh", MeshText(mesh)},
                                           {"interrupted", InterruptNote::Came()},
                                           {"plans", Json(candidates)}};
    std::cout << report.dump(1) << "\n";
    return absl::OkStatus();
  }
  std::cout << BaseName(flags.model.file) << " on " << Counted(mesh.devices(), "device")
            << ", mesh " << MeshText(mesh) << "\n\n";
  Print(candidates);
  if (InterruptNote::Came()) std::cout << "interrupted: other rows were not searched\n";
  return absl::OkStatus();
}

}  // namespace

void AddCompare(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command =
      AddCommand(app, "compare", "plan with every search and baseline, and show them side by side");
  AddModelFlags(command, flags->model);
  AddMeshFlags(command, flags->mesh);
  AddRows<CompareFlags>(command, kRows, *flags);
  OnRun(command, exit_code, [flags] { return Compare(*flags); });
}

}  // namespace yuba::tools
