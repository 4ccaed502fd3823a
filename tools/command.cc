#include "tools/command.h"

#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "compiler/import/onnx.h"
#include "opsemantics/base/status.h"
#include "opsemantics/base/files.h"
#include "tools/exit_code.h"

namespace yuba {

const char kVersion[] = "0.1";

void OnRun(CLI::App* app, int& exit_code, Action action) {
  app->callback([app, &exit_code, action = std::move(action)] {
    const absl::Status status = action();
    exit_code = ExitCode(status);
    if (!status.ok()) {
      std::cerr << "yuba " << app->get_name() << ": " << status.message() << "\n";
    }
  });
}

void AddModelFlags(CLI::App* app, ModelFlags& flags) {
  app->add_option("model", flags.file, "the model, an ONNX file")->required();
  app->add_option("--dim", flags.dims, "a symbolic dimension: NAME=N")->take_all();
  app->add_option("--batch", flags.batch, "length of the inputs' first dimension")
      ->check(CLI::PositiveNumber);
  app->add_option("--operators", flags.operators, "descriptions of more operators (.tdl)")
      ->take_all();
}

namespace {

absl::StatusOr<std::map<std::string, int64_t>> ParseDims(const std::vector<std::string>& dims) {
  std::map<std::string, int64_t> result;
  for (const std::string& dim : dims) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(dim, absl::MaxSplits('=', 1));
    int64_t value = 0;
    if (parts.first.empty() || !absl::SimpleAtoi(parts.second, &value) || value < 0) {
      return UserError("--dim ", dim, ": expected NAME=N with a whole number N, as in --dim batch=8");
    }
    result[parts.first] = value;
  }
  return result;
}

}  // namespace

absl::StatusOr<LoadedModel> LoadModel(const ModelFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, OperatorLibrary::BuiltIn());
  for (const std::string& file : flags.operators) {
    YUBA_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    YUBA_RETURN_IF_ERROR(library.Add(file, text));
  }
  ImportOptions options;
  options.library = &library;
  YUBA_ASSIGN_OR_RETURN(options.dims, ParseDims(flags.dims));
  if (flags.batch > 0) options.batch = flags.batch;
  YUBA_ASSIGN_OR_RETURN(Model model, ImportOnnx(flags.file, options));
  return LoadedModel{std::move(library), std::move(model)};
}

std::map<std::string, std::string> PlanOptions(const ModelFlags& flags) {
  std::map<std::string, std::string> options;
  for (const std::string& dim : flags.dims) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(dim, absl::MaxSplits('=', 1));
    options["dim." + parts.first] = parts.second;
  }
  if (flags.batch > 0) options["batch"] = absl::StrCat(flags.batch);
  return options;
}

absl::Status TakeOptions(const PlanNotes& notes, ModelFlags& flags) {
  const std::map<std::string, std::string> given = PlanOptions(flags);
  for (const auto& [name, value] : notes.options) {
    const bool dim = name.rfind("dim.", 0) == 0;
    if (!dim && name != "batch") continue;
    const auto mine = given.find(name);
    if (mine != given.end()) {
      if (mine->second == value) continue;
      return UserError("the plan was made with ", name, "=", value, ", not ", mine->second,
                       ": leave the flag out or plan again");
    }
    if (dim) {
      flags.dims.push_back(absl::StrCat(name.substr(4), "=", value));
    } else if (!absl::SimpleAtoi(value, &flags.batch)) {
      return UserError("the plan's option batch is '", value, "', not a number: plan again");
    }
  }
  return absl::OkStatus();
}

PlanNotes NotesFor(const LoadedModel& loaded, const ModelFlags& flags) {
  PlanNotes notes;
  notes.graph_file = BaseName(flags.file);
  notes.graph_hash = loaded.model.graph_hash;
  notes.library_hash = absl::StrFormat("%016x", loaded.library.Hash());
  notes.version = kVersion;
  notes.options = PlanOptions(flags);
  const Graph& graph = loaded.model.graph;
  for (TensorId id : graph.inputs) notes.inputs[graph.tensors[id].name] = WholeDims(graph.tensors[id]);
  return notes;
}

absl::StatusOr<PlannedModel> LoadPlanned(ModelFlags flags, const std::string& plan_file) {
  YUBA_ASSIGN_OR_RETURN(std::string text, ReadFile(plan_file));
  absl::StatusOr<PlanFile> file = ReadPlan(text);
  if (!file.ok()) return Annotate(file.status(), plan_file);
  YUBA_RETURN_IF_ERROR(TakeOptions(file->notes, flags));
  YUBA_ASSIGN_OR_RETURN(LoadedModel loaded, LoadModel(flags));
  absl::StatusOr<Plan> plan = AttachPlan(loaded.model.graph, *file, NotesFor(loaded, flags));
  if (!plan.ok()) return Annotate(plan.status(), plan_file);
  return PlannedModel{std::move(loaded), *std::move(file), *std::move(plan)};
}

}  // namespace yuba
