// What the subcommands of `yuba` share: flags, loading of models and plans, exit codes. A
// subcommand adds its flags to a CLI::App and gives OnRun the function that does the work:
//
//   auto flags = std::make_shared<CheckFlags>();
//   CLI::App* check = app.add_subcommand("check", "is the plan legal?");
//   AddModelFlags(check, flags->model);
//   OnRun(check, exit_code, [flags] { return Check(*flags); });
#ifndef YUBA_TOOLS_COMMAND_H_
#define YUBA_TOOLS_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/compilation.h"
#include "compiler/import/options.h"
#include "compiler/model.h"
#include "opsemantics/language/library.h"
#include "search/file/plan_file.h"
#include "search/plan/words.h"

namespace yuba::tools {

// A subcommand's body. OnRun has it run when `app` is called: its status becomes the exit code
// (exit_code.h), its message goes to stderr. Meanwhile, of commands with --progress, a ProgressLine
// exists.
using Action = std::function<absl::Status()>;
void OnRun(CLI::App* app, int& exit_code, Action action);

// Checks that an option's value is a word of an enumeration of search/plan/words.h.
template <typename Enum>
CLI::Validator OneOfWords() {
  std::vector<std::string> words;
  for (const auto& [value, word] : search::Words<Enum>::kList) words.emplace_back(word);
  return CLI::IsMember(std::move(words));
}

struct ModelFlags {
  std::string file;                      // the ONNX model
  std::string from_tensors;              // NAME,...: the part of the model behind these
  std::string to_tensors;                // NAME,...: the part of the model up to these
  std::vector<std::string> dims;         // NAME=N
  int64_t batch = 0;                     // examples in a step; 0: as in the file
  std::string batch_dim;                 // NAME or INPUT:DIMENSION,...: what is the batch
  std::vector<std::string> bind;         // NAME=FILE, inputs whose value is known when planning
  std::vector<std::string> states;       // OUT=IN, outputs that are the next values of inputs
  std::vector<std::string> caches;       // PAST=PRESENT:LENGTH
  std::vector<std::string> entries;      // NAME:SYMBOL=N,...
  std::vector<std::string> times;        // NAME=N, how often an entry runs
  bool init = false;                     // what never changes is an entry of its own
  std::string train, loss;               // names of an optimizer and of a loss; empty: no training
  std::string minimize;                  // an output that is the loss; empty: `loss` is given
  std::string metrics;                   // NAME,...: measured beside the loss
  std::string loss_output;               // which the loss judges; empty: the only one
  std::string clip;                      // the largest norm of all gradients; empty: any
  std::string precision;                 // of products; empty: the model's
  std::string micro_batches;             // parts of a step's batch; empty: one
  std::string eval_every;                // steps between runs of the entry `eval`; empty: none
  std::vector<std::string> ties;         // TIED=KEPT, parameters that are one
  std::vector<std::string> freeze;       // patterns of parameters that are not trained
  std::vector<std::string> trainable;    // patterns of what is trained whatever the file says
  std::vector<std::string> freeze_rows;  // TABLE=ROW,...
  bool allow_missing = false;            // parameters of PyTorch's may be missing in the file
  bool list_all = false;                 // notes name all that is trained
  std::string lr = "0.01";               // the learning rate
  std::vector<std::string> operators;    // description files
  // Other values of stored numbers (StoredNumbers), for a plan that was loaded without them.
  std::map<std::string, TensorData> numbers;
  bool factors = true;    // false: --space flat or tofu
  bool strict = false;    // an unknown opset is an error
  bool progress = false;  // OnRun reads it by its name
};
void AddModelFlags(CLI::App* app, ModelFlags& flags);

// The devices: a number of them, or a mesh with named groups of axes.
struct MeshFlags {
  int devices = 8;     // 1 to kMostPlannedDevices
  std::string groups;  // as in data=2,model=4; empty: `devices` counts
};
// --train and what belongs to it, of commands that need no plan.
void AddTrainFlags(CLI::App* app, ModelFlags& flags);
// --entry and --times, of commands that need no plan: a plan remembers its entries.
void AddEntryFlags(CLI::App* app, ModelFlags& flags);
void AddMeshFlags(CLI::App* app, MeshFlags& flags);
// The mesh with its axes: 8 devices are a=2 b=2 c=2.
absl::StatusOr<Mesh> MeshOfFlags(const MeshFlags& flags);

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
absl::StatusOr<OperatorLibrary> LoadLibrary(const ModelFlags& flags);
absl::StatusOr<compiler::CompileRequest> RequestOf(const ModelFlags& flags,
                                                   const OperatorLibrary& library);
absl::StatusOr<onnx::ImportOptions> ImportOptionsOf(const ModelFlags& flags,
                                                    const OperatorLibrary& library);
// Of the bound inputs: name -> hash of the value.
std::map<std::string, std::string> ContentHashes(const onnx::ImportOptions& options);

// The flags that change the graph, as the plan file keeps them: {"dim.batch": "8"}.
std::map<std::string, std::string> PlanOptions(const ModelFlags& flags);
// Fills in the flags that `partition` was given when it made the plan, where the command line does
// not give them. A user's error that names both values where the two contradict each other.
absl::Status TakeOptions(const search::PlanNotes& notes, ModelFlags& flags);

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

// The notes that every plan file of this model has: hashes of graph and operator library, version,
// options, shapes of the inputs. AttachPlan refuses a plan file with other hashes.
search::PlanNotes NotesFor(const LoadedModel& loaded, const ModelFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMMAND_H_
