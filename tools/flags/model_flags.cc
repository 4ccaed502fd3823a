#include "tools/flags/model_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command_line.h"
#include "tools/flags/set_options.h"

namespace yuba::tools {
namespace {

using onnx::ImportOptions;

constexpr char kModel[] = "Model", kEntries[] = "Entries", kTraining[] = "Training";

constexpr ModelFlag kModelFlags[] = {
    {"from-tensors", FlagForm::kText, kModel, "",
     "plan the part of the model behind these tensors, which become inputs: NAME,...",
     SetFromTensors},
    {"to-tensors", FlagForm::kText, kModel, "",
     "plan the part of the model that leads to these tensors, which become the outputs: NAME,...",
     SetToTensors},
    {"dim", FlagForm::kNamed, kModel, "", "a symbolic dimension: NAME=N", SetDim},
    {"batch", FlagForm::kText, kModel, "", "how many examples a step takes", SetBatch},
    {"batch-dim", FlagForm::kText, kModel, "",
     "which dimension counts examples, where the file does not call it batch and the nodes leave "
     "it open: NAME, as the file calls it, or INPUT:DIMENSION, as in x:1; several with commas "
     "between",
     SetBatchDim},
    {"bind", FlagForm::kNamed, kModel, "",
     "an input that is known when planning: NAME=FILE (.npy or .pb)", SetBind},
    {"state", FlagForm::kNamed, kModel, "",
     "an output that is an input's value in the next step: OUT=IN", SetState},
    {"cache", FlagForm::kNamed, kModel, "",
     "an input that an output puts rows behind is a state of LENGTH rows: PAST=PRESENT:LENGTH; a * "
     "in both names stands for the same text",
     SetCache},
    {"strict", FlagForm::kSwitch, kModel, "",
     "a model of an opset that is not known yet is an error, not a warning",
     [](const std::string&, ImportOptions& options) {
       options.strict = true;
       return absl::OkStatus();
     }},
    {"entry", FlagForm::kListed, kEntries, "",
     "the model at these sizes, run by itself: NAME:SYMBOL=N,..., or NAME*TIMES:SYMBOL=N,... where "
     "what moves in all is for so many runs of it; several entries share weights and states",
     SetEntry},
    {"init", FlagForm::kSwitch, kEntries, "",
     "compute what never changes once, by an entry that runs before the first step",
     [](const std::string&, ImportOptions& options) {
       options.init = true;
       return absl::OkStatus();
     }},
    {"train", FlagForm::kText, kTraining, "",
     "a training step with this optimizer, a description that `yuba op` lists or one of your own "
     "(docs/training.md): NAME or NAME:ATTRIBUTE=NUMBER,...",
     SetTrain, true},
    {"loss", FlagForm::kText, kTraining, "train",
     "a description of a loss, NAME or NAME:ATTRIBUTE=NUMBER,...; behind it @OUTPUT, the output "
     "that it judges, where the model has several",
     SetLoss, true},
    {"minimize", FlagForm::kText, kTraining, "train",
     "the output that is the loss, of a model that has it inside, in place of --loss",
     [](const std::string& value, ImportOptions& options) {
       options.train->minimize = value;
       return absl::OkStatus();
     },
     true},
    {"metrics", FlagForm::kText, kTraining, "loss",
     "NAME,...: what is measured of the output that the loss judges, as accuracy",
     [](const std::string& value, ImportOptions& options) {
       options.train->metrics = value;
       return absl::OkStatus();
     }},
    {"freeze", FlagForm::kNamed, kTraining, "train",
     "a parameter that is not trained, of whose name * stands for any text; or rows that are not, "
     "as an embedding's padding_idx: TABLE=ROW,...",
     SetFreeze, true},
    {"trainable", FlagForm::kNamed, kTraining, "train",
     "a stored tensor that is trained, whatever the file says of it; * stands for any text, and "
     "--freeze takes away from what it names",
     [](const std::string& value, ImportOptions& options) {
       options.train->trainable.push_back(value);
       return absl::OkStatus();
     }},
    {"allow-missing-parameters", FlagForm::kSwitch, kTraining, "train",
     "train what is there of a file that lacks parameters of its PyTorch model",
     [](const std::string&, ImportOptions& options) {
       options.train->allow_missing = true;
       return absl::OkStatus();
     }},
    {"tie", FlagForm::kNamed, kTraining, "train",
     "A=B: the parameter A is B, or its transpose; both must have equal values", SetTie},
    {"lr", FlagForm::kText, kTraining, "train",
     "the learning rate of each step, unless a run says otherwise (yuba run --lr-schedule); "
     "default: 0.01",
     [](const std::string& value, ImportOptions& options) {
       return SetAbove0("--lr", value, "a learning rate", options.train->lr);
     }},
    {"clip", FlagForm::kText, kTraining, "train",
     "gradients whose norm, of all together, is above this are made smaller",
     [](const std::string& value, ImportOptions& options) {
       return SetAbove0("--clip", value, "the largest norm", options.train->clip);
     },
     true},
    {"precision", FlagForm::kText, kTraining, "train",
     "bf16: matrix products and convolutions read and write bf16; weights stay f32", SetPrecision,
     true},
    {"micro-batches", FlagForm::kText, kTraining, "train",
     "a step computes gradients of so many equal parts of its batch, one by one, and updates with "
     "their mean",
     [](const std::string& value, ImportOptions& options) {
       return SetCount("--micro-batches", value, "micro-batches", options.train->micro_batches);
     }},
    {"eval-entry", FlagForm::kText, kTraining, "train",
     "a second entry, `eval`, computes the loss without training; the plan is for a run of it "
     "after so many steps each (yuba run --eval)",
     [](const std::string& value, ImportOptions& options) {
       return SetCount("--eval-entry", value, "steps", options.train->eval_every);
     }},
};

// A flag of the table, whose values become flags.given[its name].
void AddFlag(CLI::App* app, const ModelFlag& flag, ModelFlags& flags) {
  const std::string name = absl::StrCat("--", flag.name);
  CLI::Option* option = nullptr;
  if (flag.form == FlagForm::kSwitch) {
    option = app->add_flag_callback(
        name, [&flags, &flag] { flags.given[flag.name] = {"true"}; }, flag.help);
  } else {
    option = app->add_option_function<std::vector<std::string>>(
        name,
        [&flags, &flag](const std::vector<std::string>& values) {
          flags.given[flag.name] = values;
        },
        flag.help);
    if (flag.form == FlagForm::kText) {
      option->expected(1)->type_size(1);
    } else {
      option->take_all();
    }
  }
  option->group(flag.group);
  if (*flag.needs != '\0') option->needs(app->get_option(absl::StrCat("--", flag.needs)));
}

void AddFile(CLI::App* app, ModelFlags& flags) {
  app->add_option("model", flags.file, "the model, an ONNX file")->required();
}

void AddProgress(CLI::App* app) {
  app->add_flag("--progress",
                "say on stderr what goes on, at most a line a second; on a terminal one line shows "
                "it anyway")
      ->group("Output");
}

}  // namespace

absl::Span<const ModelFlag> ModelFlagTable() { return kModelFlags; }

const ModelFlag* FindModelFlag(const std::string& name) {
  for (const ModelFlag& flag : kModelFlags) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

void AddOperators(CLI::App* app, std::vector<std::string>& files) {
  app->add_option("--operators", files, "descriptions of more operators (.tdl)")
      ->take_all()
      ->group(kModel);
}

void AddModelFlags(CLI::App* app, ModelFlags& flags) {
  AddFile(app, flags);
  for (const ModelFlag& flag : kModelFlags) AddFlag(app, flag, flags);
  AddOperators(app, flags.operators);
  AddProgress(app);
}

void AddPlannedModelFlags(CLI::App* app, ModelFlags& flags) {
  AddFile(app, flags);
  AddFlag(app, *FindModelFlag("bind"), flags);
  AddOperators(app, flags.operators);
  AddProgress(app);
}

absl::StatusOr<OperatorLibrary> LoadLibrary(const std::vector<std::string>& files) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, OperatorLibrary::BuiltIn());
  for (const std::string& file : files) {
    YUBA_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    YUBA_RETURN_IF_ERROR(library.Add(file, text));
  }
  return library;
}

absl::StatusOr<onnx::ImportOptions> ImportOptionsOf(const ModelFlags& flags,
                                                    const OperatorLibrary& library) {
  ImportOptions options;
  options.library = &library;
  options.factors = flags.factors;
  options.bind = flags.numbers;
  for (const ModelFlag& flag : kModelFlags) {
    const auto given = flags.given.find(flag.name);
    if (given == flags.given.end()) continue;
    // Options of a plan come here too, and no command line has looked at those.
    if (*flag.needs != '\0' && flags.given.count(flag.needs) == 0) {
      return UserError("--", flag.name, " ", given->second[0], ": it needs --", flag.needs);
    }
    for (const std::string& value : given->second) {
      YUBA_RETURN_IF_ERROR(flag.set(value, options));
    }
  }
  if (!options.train.has_value()) return options;
  options.train->list_all = flags.list_all;
  const std::string &loss = options.train->loss, &minimize = options.train->minimize;
  if (!loss.empty() && !minimize.empty()) {
    return UserError("--minimize ", minimize, " and --loss ", loss, ": give one of them");
  }
  if (!loss.empty() || !minimize.empty()) return options;
  return UserError("--train needs a loss: --loss NAME, of the model's output and labels, or ",
                   "--minimize OUTPUT of a model that has its loss inside");
}

NamedValue SplitNamed(const std::string& text) {
  return absl::StrSplit(text, absl::MaxSplits('=', 1));
}

}  // namespace yuba::tools
