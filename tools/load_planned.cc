// A model with the plan that was made for it.
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/phases.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/flags/plan_options.h"
#include "tools/version.h"

namespace yuba::tools {

search::PlanNotes NotesFor(const LoadedModel& loaded, const ModelFlags& flags) {
  search::PlanNotes notes;
  notes.graph_file = BaseName(flags.file);
  notes.graph_hash = loaded.model.graph_hash;
  notes.library_hash = absl::StrFormat("%016x", loaded.library.Hash());
  notes.version = kVersion;
  notes.options = PlanOptions(flags);
  for (const auto& [name, hash] : loaded.bound) notes.options["bind_hash." + name] = hash;
  const Graph& graph = loaded.model.graph;
  for (TensorId id : graph.inputs)
    notes.inputs[graph.tensors[id].name] = WholeDims(graph.tensors[id]);
  return notes;
}

namespace {

compiler::PhaseOptions Only(const char* phase) {
  compiler::PhaseOptions options;
  options.from = options.to = phase;
  return options;
}

// Whether the file begins as a JSON object does, which no ONNX file does.
bool BeginsAsJson(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // a pipe would be waited for
  std::ifstream file(path);
  return file.get() == '{';
}

}  // namespace

absl::StatusOr<PlannedModel> LoadPlanned(ModelFlags flags, const std::string& plan_file) {
  YUBA_ASSIGN_OR_RETURN(std::string text, ReadFile(plan_file));
  return LoadPlannedText(std::move(flags), plan_file, std::move(text));
}

absl::StatusOr<PlannedModel> LoadPlannedText(ModelFlags flags, const std::string& plan_file,
                                             std::string text) {
  if (BeginsAsJson(flags.file)) {
    return UserError(flags.file,
                     " is no ONNX model, it may be a plan: the model comes before the plan");
  }
  absl::StatusOr<search::PlanFile> file = search::ReadPlan(text);
  if (!file.ok()) return Annotate(file.status(), plan_file);
  const ModelFlags given = flags;
  YUBA_RETURN_IF_ERROR(Annotate(TakeOptions(file->notes, flags), plan_file));
  absl::StatusOr<LoadedModel> read = LoadModel(flags);
  if (!read.ok()) return NameOptions(read.status(), given, plan_file, file->notes);
  LoadedModel loaded = *std::move(read);
  for (const auto& [name, value] : flags.numbers) loaded.bound.erase(name);
  YUBA_RETURN_IF_ERROR(Annotate(CheckBound(loaded.bound, file->notes), plan_file));
  // The plan is of the model as it was; that it fits this one is seen tensor by tensor.
  if (!flags.numbers.empty()) loaded.model.graph_hash = file->notes.graph_hash;
  if (file->space.factors != flags.factors) {
    return absl::FailedPreconditionError(
        absl::StrCat(plan_file, ": says that its space has ", file->space.factors ? "" : "no ",
                     "factors, but its options read the model with",
                     flags.factors ? " them" : "out", ": plan again"));
  }
  compiler::Compilation attached;
  attached.request.plan = *file;
  attached.request.expected = NotesFor(loaded, flags);
  Graph whole = loaded.model.graph;
  attached.model = std::move(loaded.model);
  const absl::Status fits = compiler::RunPhases(Only("attach"), attached);
  if (!fits.ok() && !flags.numbers.empty()) {
    return Annotate(fits, absl::StrCat("with another value of ", flags.numbers.begin()->first,
                                       " the model is another graph: store the value in ",
                                       "the model (yuba export) and plan again"));
  }
  if (absl::IsFailedPrecondition(fits)) {
    return absl::Status(fits.code(), absl::StrCat(plan_file, ": ", fits.message(), ": plan again"));
  }
  YUBA_RETURN_IF_ERROR(Annotate(fits, plan_file));
  loaded.model = std::move(attached.model);
  return PlannedModel{std::move(loaded), std::move(whole), *std::move(file),
                      std::move(attached.plan), std::move(text)};
}

}  // namespace yuba::tools
