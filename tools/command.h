// What the subcommands of `yuba` share: loading of models and plans, exit codes. A subcommand adds
// its flags (flags/) to a CLI::App and gives OnRun the function that does the work:
//
//   auto flags = std::make_shared<CheckFlags>();
//   CLI::App* check = AddCommand(app, "check", "is the plan legal?");
//   AddPlannedModelFlags(check, flags->model);
//   OnRun(check, exit_code, [flags] { return Check(*flags); });
#ifndef YUBA_TOOLS_COMMAND_H_
#define YUBA_TOOLS_COMMAND_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/compilation.h"
#include "compiler/import/options.h"
#include "compiler/model.h"
#include "opsemantics/language/library.h"
#include "search/file/plan_file.h"
#include "tools/flags/model_flags.h"

namespace CLI {
class App;
}

namespace yuba::tools {

// A subcommand, and options that several have. Who needs no others compiles without CLI11, whose
// templates take seconds in each file.
CLI::App* AddCommand(CLI::App& app, const char* name, const char* help);
void AddPlanFile(CLI::App* command, std::string& plan);
void AddJson(CLI::App* command, bool& json);

// A subcommand's body. OnRun has it run when `app` is called: its status becomes the exit code
// (exit_code.h), its message goes to stderr. Meanwhile, of commands with --progress, a ProgressLine
// exists.
using Action = std::function<absl::Status()>;
void OnRun(CLI::App* app, int& exit_code, Action action);

// A model with the library that describes its operators.
struct LoadedModel {
  OperatorLibrary library;
  compiler::Model model;
  std::map<std::string, std::string> bound;  // bound input -> hash of its value
};
absl::StatusOr<LoadedModel> LoadModel(const ModelFlags& flags);

// A warning on stderr where the model's operators are of a newer version than any that is known.
void WarnOfNewOpset(const compiler::Model& model);

// The steps of LoadModel, for subcommands that run the compiler's phases themselves. The library
// must outlive the request.
absl::StatusOr<compiler::CompileRequest> RequestOf(const ModelFlags& flags,
                                                   const OperatorLibrary& library);
// Of the bound inputs: name -> hash of the value.
std::map<std::string, std::string> ContentHashes(const onnx::ImportOptions& options);

// A model with the plan that was read for it.
struct PlannedModel {
  LoadedModel loaded;  // its graph has the plan's copies, accumulators and partials
  Graph whole;         // the graph without them
  search::PlanFile file;
  search::Plan plan;
  std::string text;  // of the plan file
};
// Reads both and attaches the plan. FailedPrecondition, a negative answer, where the plan moves
// other bytes than it says; else a user's error that names the file.
absl::StatusOr<PlannedModel> LoadPlanned(ModelFlags flags, const std::string& plan_file);
// The same of a plan that was read or made already; `plan_file` is what messages call it.
absl::StatusOr<PlannedModel> LoadPlannedText(ModelFlags flags, const std::string& plan_file,
                                             std::string text);

// The notes that every plan file of this model has: hashes of graph and operator library, version,
// options, shapes of the inputs. AttachPlan refuses a plan file with other hashes.
search::PlanNotes NotesFor(const LoadedModel& loaded, const ModelFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMMAND_H_
