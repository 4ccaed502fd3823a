#include "tools/compare/candidates.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/search_model.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/check/check.h"
#include "tools/flags/machine_defaults.h"
#include "tools/interrupt.h"
#include "tools/program/plan_notes.h"
#include "tools/program/predict_plan.h"
#include "tools/report/search_report.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
absl::StatusOr<Candidate> TrySearch(compiler::Model model, search::SearchOptions options,
                                    const std::string& name, const std::string& what) {
  Candidate candidate;
  candidate.name = name;
  candidate.what = what;
  const size_t notes_before = model.notes.size();
  const auto start = std::chrono::steady_clock::now();
  options.flat_too = options.search == "default";
  options.asked = InterruptNote::Came;
  options.progress = [](const search::SearchProgress& progress) {
    ProgressLine::Say(ProgressText(progress));
  };
  YUBA_ASSIGN_OR_RETURN(candidate.plan, compiler::SearchModel(options, model, PredictedStep));
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
    candidate.arena = memory.arena;
  }
  candidate.step = StepOf(model.graph, notes.predicted);
  return candidate;
}

absl::StatusOr<Candidate> TryDefault(const compiler::Model& model, search::SearchOptions options,
                                     const std::string& what) {
  FollowMachine(options.objective.machine(), options);
  absl::StatusOr<Candidate> within = TrySearch(model, options, "default", what);
  if (!absl::IsFailedPrecondition(within.status()) || options.memory_limit == 0) return within;
  options.memory_limit = 0;
  YUBA_ASSIGN_OR_RETURN(Candidate free, TrySearch(model, options, "default", what));
  free.remarks.push_back("no plan that fits was found: this one is made without the limit");
  return free;
}

namespace {

void SetHeldBesides(const search::Baseline& baseline, Candidate& candidate) {
  if (candidate.name != baseline.name) return;  // it was interrupted
  candidate.held_besides =
      baseline.held_besides == nullptr ? 0 : baseline.held_besides(candidate.graph, candidate.plan);
}

// The row of a baseline that has the same plan, from number `first` on; null where there is none.
const Candidate* SameAs(const search::Baseline& baseline, const std::vector<Candidate>& candidates,
                        size_t first) {
  for (size_t c = first; c < candidates.size(); ++c) {
    const search::Baseline* other = search::FindBaseline(candidates[c].name);
    if (other != nullptr && search::HaveSamePlans(*other, baseline)) return &candidates[c];
  }
  return nullptr;
}

// The row as that of another baseline with the same plan, which has remarks of its own.
Candidate Renamed(Candidate candidate, const search::Baseline& baseline) {
  const auto remark = [&](const char* name) {
    const search::Baseline& of = *search::FindBaseline(name);
    return of.remark == nullptr ? "" : of.remark(candidate.graph, candidate.plan);
  };
  const std::string old = remark(candidate.name.c_str()), now = remark(baseline.name);
  std::vector<std::string>& remarks = candidate.remarks;
  remarks.erase(std::remove(remarks.begin(), remarks.end(), old), remarks.end());
  if (!now.empty()) remarks.push_back(now);
  candidate.name = baseline.name;
  candidate.what = baseline.what;
  candidate.plan.search = baseline.name;
  SetHeldBesides(baseline, candidate);
  return candidate;
}

}  // namespace

absl::StatusOr<std::vector<Candidate>> TryAll(const compiler::Model& model,
                                              search::SearchOptions options, bool copies) {
  std::vector<Candidate> candidates;
  auto add = [&](const std::string& name, const std::string& what) -> absl::Status {
    if (InterruptNote::Came() && !candidates.empty()) return absl::OkStatus();
    ProgressLine::Begin(absl::StrCat("row ", candidates.size() + 1, ", ", name));
    absl::StatusOr<Candidate> candidate = candidates.empty()
                                              ? TryDefault(model, options, what)
                                              : TrySearch(model, options, name, what);
    if (absl::IsCancelled(candidate.status()) && !candidates.empty()) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(candidate.status());
    candidates.push_back(*std::move(candidate));
    return absl::OkStatus();
  };
  options.copies = copies;
  const std::shared_ptr<const Machine> machine = options.objective.machine();
  YUBA_RETURN_IF_ERROR(add("default", machine != nullptr ? "least time, all levels together"
                                                         : "fewest bytes, all levels together"));
  if (machine != nullptr) {  // all others count bytes
    options.objective = search::Objective(search::ObjectiveKind::kBytes, machine);
    YUBA_RETURN_IF_ERROR(add("fewest bytes", "all levels together (--objective bytes)"));
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
  const size_t first = candidates.size();
  for (const search::Baseline& baseline : search::Baselines()) {
    if (search::IsPure(baseline, options.mesh)) continue;
    const Candidate* same = SameAs(baseline, candidates, first);
    if (same != nullptr) {
      candidates.push_back(Renamed(*same, baseline));
      continue;
    }
    options.search = baseline.name;
    YUBA_RETURN_IF_ERROR(add(baseline.name, baseline.what));
    SetHeldBesides(baseline, candidates.back());
  }
  return candidates;
}

}  // namespace yuba::tools
