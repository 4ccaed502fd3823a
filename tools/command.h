// What the subcommands of `yuba` share: flags, loading of models and plans, exit codes.
#ifndef YUBA_TOOLS_COMMAND_H_
#define YUBA_TOOLS_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx.h"
#include "compiler/model.h"
#include "opsemantics/language/library.h"
#include "search/file/plan_file.h"

namespace yuba::tools {

// A subcommand's body; its status becomes the exit code, its message goes to stderr.
using Action = std::function<absl::Status()>;
void OnRun(CLI::App* app, int& exit_code, Action action);

struct ModelFlags {
  std::string file;
  std::vector<std::string> dims;       // NAME=N
  int64_t batch = 0;                   // 0: as in the file
  std::vector<std::string> bind;       // NAME=FILE, inputs that are known when planning
  std::vector<std::string> operators;  // description files
  bool factors = true;                 // false: --space flat or tofu
};
void AddModelFlags(CLI::App* app, ModelFlags& flags);

// The devices: a number of them, or a mesh of named groups.
struct MeshFlags {
  int devices = 8;
  std::string groups;  // as in data=2,model=4; empty: `devices`
};
void AddMeshFlags(CLI::App* app, MeshFlags& flags);
absl::StatusOr<Mesh> MeshOfFlags(const MeshFlags& flags);

// A model with the library that describes its operators.
struct LoadedModel {
  OperatorLibrary library;
  compiler::Model model;
  std::map<std::string, std::string> bound;  // bound input -> hash of its value
};
absl::StatusOr<LoadedModel> LoadModel(const ModelFlags& flags);

// The parts of LoadModel, for who runs the compiler's phases.
absl::StatusOr<OperatorLibrary> LoadLibrary(const ModelFlags& flags);
absl::StatusOr<onnx::ImportOptions> ImportOptionsOf(const ModelFlags& flags,
                                                    const OperatorLibrary& library);
std::map<std::string, std::string> ContentHashes(
    const onnx::ImportOptions& options);  // of bound inputs

// The options that change the graph, as the plan file keeps them; and the flags that an earlier
// `partition` was given, where the command line does not say otherwise.
std::map<std::string, std::string> PlanOptions(const ModelFlags& flags);
absl::Status TakeOptions(const search::PlanNotes& notes, ModelFlags& flags);

// A model with the plan that is read for it. A plan that moves other bytes than it says is
// FailedPrecondition: a negative answer.
struct PlannedModel {
  LoadedModel loaded;  // the graph has the plan's copies
  Graph whole;         // and has not
  search::PlanFile file;
  search::Plan plan;
  std::string text;  // of the file
};
absl::StatusOr<PlannedModel> LoadPlanned(ModelFlags flags, const std::string& plan_file);

// The notes that every plan of this model must agree with.
search::PlanNotes NotesFor(const LoadedModel& loaded, const ModelFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMMAND_H_
