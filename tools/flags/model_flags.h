// The flags that say which model is meant: one table, of which everything that knows them is made:
// what the command line takes and --help says, how the model is read, what a plan remembers of it
// (plan_options.h), and what --resume compares.
//
// Example: the row {"dim", FlagForm::kNamed, "Model", "", "a symbolic dimension: NAME=N", SetDim}
// makes `--dim batch=8` known to `partition`, puts 8 into ImportOptions::dims["batch"], and into
// the plan's file "dim.batch": "8", from which `run` takes it again.
#ifndef YUBA_TOOLS_FLAGS_MODEL_FLAGS_H_
#define YUBA_TOOLS_FLAGS_MODEL_FLAGS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/import/options.h"
#include "opsemantics/language/library.h"
#include "opsemantics/values/tensor_data.h"

namespace CLI {
class App;
}

namespace yuba::tools {

// How a flag is given, and how a plan keeps it among its options.
enum class FlagForm {
  kText,    // one value: {"NAME": "VALUE"}
  kSwitch,  // without a value: {"NAME": "true"}
  kNamed,   // KEY=VALUE, or KEY alone, again for each: {"NAME.KEY": "VALUE"}
  kListed,  // again for each, and their order counts: {"NAME.0": "VALUE", "NAME.1": ...}
};

struct ModelFlag {
  const char* name;  // without its --
  FlagForm form;
  const char* group;  // a heading of --help
  const char* needs;  // a flag before it in the table without which it means nothing; "": none
  const char* help;
  // Puts what one value says into the options, where those of the flag that it needs are already;
  // the user's error names flag and value. Flags are set in the order of the table.
  absl::Status (*set)(const std::string& value, onnx::ImportOptions& options);
  // Whether it decides what a training step computes: --resume compares it (SettingsOf).
  bool computes = false;
};
absl::Span<const ModelFlag> ModelFlagTable();
// The row of this name; null where there is none.
const ModelFlag* FindModelFlag(const std::string& name);

// A model as a command line, or a plan, says it.
struct ModelFlags {
  std::string file;  // the ONNX model
  // [flag]: its values, in the order in which they were given; of a kSwitch "true".
  std::map<std::string, std::vector<std::string>> given;
  std::vector<std::string> operators;  // description files
  // Other values of stored numbers (StoredNumbers), for a plan that was loaded without them.
  std::map<std::string, TensorData> numbers;
  bool factors = true;    // false: --space flat or tofu
  bool list_all = false;  // notes name all that is trained
};

// Adds all flags of a model, for commands that need no plan. `flags` must outlive `app`.
void AddModelFlags(CLI::App* app, ModelFlags& flags);
// Adds those of commands that are given a plan, which remembers the others: the model's file, what
// was bound, as its file may lie elsewhere, and descriptions.
void AddPlannedModelFlags(CLI::App* app, ModelFlags& flags);

// --operators, by itself, and the operators of these files and the built-in ones; the user's error
// names the file.
void AddOperators(CLI::App* app, std::vector<std::string>& files);
absl::StatusOr<OperatorLibrary> LoadLibrary(const std::vector<std::string>& files);
// The library must outlive the options. The user's error names a flag and its value, or what it
// needs and was not given, as a loss for --train.
absl::StatusOr<onnx::ImportOptions> ImportOptionsOf(const ModelFlags& flags,
                                                    const OperatorLibrary& library);

// NAME=VALUE at the first "="; without one the value is empty.
using NamedValue = std::pair<std::string, std::string>;
NamedValue SplitNamed(const std::string& text);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_MODEL_FLAGS_H_
