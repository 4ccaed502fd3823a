#include "tools/command.h"

#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"
#include "runtime/io/tensor_file.h"
#include "opsemantics/base/files.h"
#include "tools/exit_code.h"
#include "tools/version.h"

namespace yuba {

void OnRun(CLI::App* app, int& exit_code, Action action) {
  app->callback([app, &exit_code, action = std::move(action)] {
    const absl::Status status = action();
    exit_code = ExitCode(status);
    if (!status.ok()) {
      const CLI::App* parent = app->get_parent();
      const std::string group = parent->get_parent() == nullptr ? "" : parent->get_name() + " ";
      std::cerr << "yuba " << group << app->get_name() << ": " << status.message() << "\n";
    }
  });
}

void AddModelFlags(CLI::App* app, ModelFlags& flags) {
  app->add_option("model", flags.file, "the model, an ONNX file")->required();
  app->add_option("--dim", flags.dims, "a symbolic dimension: NAME=N")->take_all();
  app->add_option("--batch", flags.batch, "length of the inputs' first dimension")
      ->check(CLI::PositiveNumber);
  app->add_option("--bind", flags.bind, "an input that is known when planning: NAME=FILE (.npy or .pb)")
      ->take_all();
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

absl::Status KeepInputs(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (!SameFile(output, input)) continue;
    return UserError(output, ": is read by this command and would be overwritten; name another output");
  }
  return absl::OkStatus();
}

absl::StatusOr<OperatorLibrary> LoadLibrary(const ModelFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, OperatorLibrary::BuiltIn());
  for (const std::string& file : flags.operators) {
    YUBA_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    YUBA_RETURN_IF_ERROR(library.Add(file, text));
  }
  return library;
}

absl::StatusOr<ImportOptions> ImportOptionsOf(const ModelFlags& flags,
                                              const OperatorLibrary& library) {
  ImportOptions options;
  options.library = &library;
  YUBA_ASSIGN_OR_RETURN(options.dims, ParseDims(flags.dims));
  if (flags.batch > 0) options.batch = flags.batch;
  for (const std::string& bind : flags.bind) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(bind, absl::MaxSplits('=', 1));
    if (parts.first.empty() || parts.second.empty()) {
      return UserError("--bind ", bind, ": expected NAME=FILE");
    }
    YUBA_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensorFile(parts.second));
    options.bind[parts.first] = {tensor.type, tensor.shape, std::move(tensor.data)};
  }
  return options;
}

absl::StatusOr<LoadedModel> LoadModel(const ModelFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, LoadLibrary(flags));
  YUBA_ASSIGN_OR_RETURN(const ImportOptions options, ImportOptionsOf(flags, library));
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
  for (const std::string& bind : flags.bind) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(bind, absl::MaxSplits('=', 1));
    options["bind." + parts.first] = parts.second;
  }
  return options;
}

absl::Status TakeOptions(const PlanNotes& notes, ModelFlags& flags) {
  const std::map<std::string, std::string> given = PlanOptions(flags);
  for (const auto& [name, value] : notes.options) {
    const bool dim = name.rfind("dim.", 0) == 0, bind = name.rfind("bind.", 0) == 0;
    if (!dim && !bind && name != "batch") continue;
    const auto mine = given.find(name);
    if (mine != given.end()) {
      if (mine->second == value) continue;
      return UserError("the plan was made with ", name, "=", value, ", not ", mine->second,
                       ": leave the flag out or plan again");
    }
    if (bind) {
      flags.bind.push_back(absl::StrCat(name.substr(5), "=", value));
    } else if (dim) {
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
  const int64_t moved = CostOf(loaded.model.graph, *plan).bytes();
  if (moved != plan->cost.bytes()) {
    return absl::FailedPreconditionError(absl::StrCat(plan_file, ": says that a step moves ",
                                                      plan->cost.bytes(), " bytes, but its cuts move ",
                                                      moved, ": plan again"));
  }
  return PlannedModel{std::move(loaded), *std::move(file), *std::move(plan)};
}

}  // namespace yuba
