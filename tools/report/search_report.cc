#include "tools/report/search_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/import/options.h"
#include "opsemantics/base/files.h"
#include "opsemantics/regions/structure.h"
#include "opsemantics/sharding/mesh_text.h"
#include "search/model/recursion.h"
#include "search/plan/weights.h"
#include "search/solve/pairwise.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

std::string InputsText(const Graph& graph) {
  constexpr size_t kShown = 4;
  if (graph.inputs.empty()) {
    const bool states = std::any_of(graph.tensors.begin(), graph.tensors.end(), IsCarried);
    return states ? "no input but states" : "no input that is not bound";
  }
  const size_t shown = graph.inputs.size() > kShown + 1 ? kShown : graph.inputs.size();
  const std::vector<TensorId> first(graph.inputs.begin(), graph.inputs.begin() + shown);
  const std::string text = absl::StrJoin(first, ", ", [&](std::string* out, TensorId id) {
    const Tensor& tensor = graph.tensors[id];
    absl::StrAppend(out, tensor.name, ": ", Name(tensor.type.type), "[",
                    absl::StrJoin(DimsInStep(graph, tensor), ", "), "]");
  });
  if (shown == graph.inputs.size()) return text;
  return absl::StrCat(text, " and ", graph.inputs.size() - shown, " more inputs");
}

// "465.2 MB (-0.3 %)", "465.2 MB" where it did not change or there was none, "-" where there is
// none.
std::string Change(search::ObjectiveKind objective, int64_t before, int64_t now, int64_t none) {
  if (now == none) return "-";
  if (before == none || before == now) return ValueText(objective, now);
  const double percent = 100.0 * static_cast<double>(now - before) / static_cast<double>(before);
  return absl::StrFormat("%s (%+.2f %%)", ValueText(objective, now), percent);
}

}  // namespace

int64_t PartsOf(const Graph& graph) {
  int64_t parts = 0, steps = 0;
  for (const Entry& entry : graph.entries) {
    if (entry.name == onnx::kMicroEntry) parts = entry.times;
    if (entry.name == onnx::kTrainEntry) steps = entry.times;
  }
  return parts > 0 && steps > 0 ? parts / steps : 1;
}

std::vector<int64_t> DimsInStep(const Graph& graph, const Tensor& input) {
  std::vector<int64_t> dims = WholeDims(input);
  if (input.batch_dim >= 0) dims[input.batch_dim] *= PartsOf(graph);
  return dims;
}

std::string WorkText(const compiler::Model& model) {
  const std::vector<Entry>& entries = model.graph.entries;
  const bool trains = std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.name == onnx::kMicroEntry || entry.name == onnx::kEvalEntry;
  });
  return absl::StrCat(Count(static_cast<double>(model.flops)), "FLOP ",
                      SpanText(entries.size() > 1 && !trains));
}

std::string ModelText(const compiler::Model& model) {
  int64_t parameters = 0, bytes = 0;
  for (size_t t = 0; t < model.graph.tensors.size(); ++t) {
    if (!search::IsStoredWeight(model.graph, static_cast<TensorId>(t))) continue;
    const Tensor& tensor = model.graph.tensors[t];
    parameters += ElementCount(tensor.type);
    bytes += ElementCount(tensor.type) * ByteSize(tensor.type.type);
  }
  int definitions = 0;
  for (const Node& node : model.graph.nodes) {
    if (IsCopy(model.graph, node) || IsAccumulator(node)) continue;  // not in the model
    ++definitions;
  }
  return absl::StrCat(BaseName(model.file), "  opset ", model.opset, ", ",
                      Counted(model.file_nodes, "node"), " (", Counted(definitions, "definition"),
                      " to plan), ", CountedShortly(parameters, "parameter"), " (", Bytes(bytes),
                      "), ", InputsText(model.graph), "; ", WorkText(model), "\n");
}

std::string NotesText(const std::vector<std::string>& notes) {
  std::vector<std::pair<std::string, int>> folded;  // a note, and how many more are like it
  std::map<std::string, size_t> known;              // by pattern: its place in `folded`
  for (const std::string& note : notes) {
    const auto [place, is_new] = known.emplace(NamePattern(note), folded.size());
    if (is_new) {
      folded.emplace_back(note, 0);
    } else {
      ++folded[place->second].second;
    }
  }
  std::string text;
  for (const auto& [note, more] : folded) {
    absl::StrAppend(&text, "               ", note,
                    more > 0 ? absl::StrCat("  (and ", more, " like it)") : "", "\n");
  }
  return text;
}

std::string SearchText(const search::Plan& plan, const std::string& asked,
                       absl::optional<int64_t> by_level, int64_t fewer, double seconds) {
  const std::string split =
      plan.space.replicate == search::Replicate::kAuto ? "tensors split or replicated"
      : fewer == 0                                     ? "every tensor split as far as it goes"
                   : absl::StrCat("every tensor split, ", fewer, " in fewer parts than ",
                                  fewer == 1 ? "it allows" : "they allow");
  std::string text = absl::StrFormat(
      "search         %s as mesh %s; %s; %s%s   %.1f s\n", Counted(plan.mesh.devices(), "device"),
      MeshText(plan.mesh), split,
      plan.space.objective.IsTime()
          ? absl::StrCat("least time on ", plan.space.objective.machine()->name)
          : "fewest bytes",
      plan.space.memory > 0 ? absl::StrCat(" within ", Bytes(plan.space.memory), " a device") : "",
      seconds);
  const search::ObjectiveKind objective = plan.space.objective.kind();
  const int64_t value = plan.value();
  text += "               ";
  if (by_level.has_value()) {
    absl::StrAppend(&text, "level by level ", ValueText(objective, *by_level),
                    ", all levels together ");
  }
  absl::StrAppend(&text, ValueText(objective, value));
  if (plan.proof.kind == search::ProofKind::kNone) {
    absl::StrAppend(&text, ": ", NoBoundText(asked, value), "\n");
  } else if (!plan.replayed) {
    absl::StrAppend(&text, ": ", kNotReplayed, " (",
                    BoundText(objective, value, plan.lower_bound, plan.asked_bound), "; ",
                    SpaceText(plan.space), ")\n");
  } else if (plan.asked_bound < plan.lower_bound) {
    absl::StrAppend(&text, ": ", BoundText(objective, value, plan.lower_bound, plan.asked_bound),
                    "; its space: ", SpaceText(plan.space), "\n");
  } else if (plan.lower_bound == value) {
    absl::StrAppend(&text, ": optimal in its space (", SpaceText(plan.space),
                    "; lower bound equal, proof: ", search::WordOf(plan.proof.kind), ")\n");
  } else {
    absl::StrAppend(&text, ": ", BoundText(objective, value, plan.lower_bound, plan.asked_bound),
                    " in its space (", SpaceText(plan.space), ")\n");
  }
  if (!plan.stopped.empty()) {
    absl::StrAppend(&text, "               CUT SHORT by ",
                    plan.stopped == search::kTimeLimit ? "its time limit" : "an interrupt",
                    plan.asked_bound == value   ? ": nothing is better"
                    : plan.lower_bound == value ? ": other spaces may have better"
                                                : ": the best by then; more time may find better",
                    "\n");
  }
  return text;
}

std::string EngineText(const search::EngineReport& report) {
  return absl::StrFormat("engine %-22s plan %-22s bound %-22s %6.2f s\n", report.engine,
                         Change(report.objective, report.before, report.value, search::kForbidden),
                         Change(report.objective, report.bound_before, report.bound, 0),
                         report.seconds);
}

std::string ProgressText(const search::SearchProgress& progress) {
  std::string text = progress.engine;
  const bool plan = progress.value != search::kForbidden;
  absl::StrAppend(&text, "  plan ", plan ? ValueText(progress.objective, progress.value) : "-");
  if (progress.bound > 0) {
    absl::StrAppend(&text, "  bound ", ValueText(progress.objective, progress.bound));
  }
  if (plan && progress.bound > 0)
    absl::StrAppend(&text, "  ", GapText(progress.value, progress.bound));
  return text;
}

std::string LevelsText(const Graph& graph, const search::Plan& plan) {
  const std::vector<int64_t> levels = search::BytesByLevel(graph, plan);
  std::vector<std::string> words;
  for (size_t axis = 0; axis < levels.size(); ++axis) {
    words.push_back(absl::StrCat(plan.mesh.axes[axis].name, " ", Bytes(levels[axis])));
  }
  return absl::StrCat("               by level (Tofu's deltas): ", absl::StrJoin(words, ", "),
                      "\n");
}

std::string PinsText(const search::Plan& plan, const std::vector<search::PinPrice>& prices,
                     const char* span) {
  const search::ObjectiveKind objective = plan.space.objective.kind();
  std::string text;
  const auto indent = [&] { return text.empty() ? "PINS           " : "               "; };
  for (const search::PinPrice& price : prices) {
    absl::StrAppend(&text, indent(), price.text, " costs ",
                    price.value < 0 ? "nothing" : ValueText(objective, price.value), " ", span,
                    prices.size() > 1 ? ", given the other pins\n" : "\n");
  }
  if (plan.unpinned.has_value()) {
    absl::StrAppend(&text, indent(), "together they cost ",
                    PinsCostText(objective, plan.value(), plan.lower_bound, *plan.unpinned, span),
                    "\n");
  }
  return text;
}

}  // namespace yuba::tools
