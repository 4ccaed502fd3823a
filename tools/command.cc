#include "tools/command.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"
#include "compiler/cluster/cluster.h"
#include "compiler/order/order.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "opsemantics/values/tensor_file.h"
#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/terminal/progress_line.h"
#include "tools/train_flags.h"
#include "tools/version.h"

namespace yuba::tools {

void OnRun(CLI::App* app, int& exit_code, Action action) {
  OneValueAtATime(app);
  app->callback([app, &exit_code, action = std::move(action)] {
    absl::Status status = RefuseEmptyValues(*app);
    if (status.ok()) {
      const CLI::Option* asked = app->get_option_no_throw("--progress");
      absl::optional<ProgressLine> progress;
      if (asked != nullptr) progress.emplace(asked->count() > 0);
      status = action();
    }
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
  app->add_option("--from-tensors", flags.from_tensors,
                  "plan the part of the model behind these tensors, which become inputs: NAME,...");
  app->add_option("--to-tensors", flags.to_tensors,
                  "plan the part of the model that leads to these tensors, which become the "
                  "outputs: NAME,...");
  app->add_option("--dim", flags.dims, "a symbolic dimension: NAME=N")->take_all();
  app->add_option("--batch", flags.batch, "how many examples a step takes")->check(WholeNumber(1));
  app->add_option("--batch-dim", flags.batch_dim,
                  "which dimension counts examples, where the file does not call it batch and the "
                  "nodes leave it open: NAME, as the file calls it, or INPUT:DIMENSION, as in x:1; "
                  "several with commas between");
  app->add_option("--bind", flags.bind,
                  "an input that is known when planning: NAME=FILE (.npy or .pb)")
      ->take_all();
  app->add_option("--state", flags.states,
                  "an output that is an input's value in the next step: OUT=IN")
      ->take_all();
  app->add_option("--cache", flags.caches,
                  "an input that an output puts rows behind is a state of LENGTH rows: "
                  "PAST=PRESENT:LENGTH; a * in both names stands for the same text")
      ->take_all();
  app->add_option("--operators", flags.operators, "descriptions of more operators (.tdl)")
      ->take_all();
  app->add_flag("--strict", flags.strict,
                "a model of an opset that is not known yet is an error, not a warning");
  app->add_flag("--progress", flags.progress,
                "say on stderr what goes on, at most a line a second; on a terminal one line shows "
                "it anyway");
}

void AddEntryFlags(CLI::App* app, ModelFlags& flags) {
  app->add_option(
         "--entry", flags.entries,
         "the model at these sizes, run by itself: NAME:SYMBOL=N,...; several entries share "
         "weights and states")
      ->take_all();
  app->add_option("--times", flags.times,
                  "how often an entry runs, for what moves in all: NAME=N (default 1)")
      ->take_all();
  app->add_flag("--init", flags.init,
                "compute what never changes once, by an entry that runs before the first step");
}

void AddMeshFlags(CLI::App* app, MeshFlags& flags) {
  CLI::Option* devices = app->add_option("--devices", flags.devices, "number of devices")
                             ->check(WholeNumber(1, kMostPlannedDevices))
                             ->capture_default_str();
  app->add_option("--mesh", flags.groups,
                  "the devices as named groups, as in data=2,model=4; instead of --devices")
      ->excludes(devices);
}

absl::StatusOr<Mesh> MeshOfFlags(const MeshFlags& flags) {
  if (!flags.groups.empty()) {
    absl::StatusOr<Mesh> mesh = MeshOfGroups(flags.groups);
    return mesh.ok() ? mesh : Annotate(mesh.status(), absl::StrCat("--mesh ", flags.groups));
  }
  return MeshOf(flags.devices);
}

namespace {

using NamedValue = std::pair<std::string, std::string>;

// NAME=VALUE at the first "="; without one the value is empty.
NamedValue SplitNamed(const std::string& text) {
  return absl::StrSplit(text, absl::MaxSplits('=', 1));
}

absl::StatusOr<std::map<std::string, int64_t>> ParseDims(const std::vector<std::string>& dims) {
  std::map<std::string, int64_t> result;
  for (const std::string& dim : dims) {
    const NamedValue parts = SplitNamed(dim);
    int64_t value = 0;
    if (parts.first.empty() || !absl::SimpleAtoi(parts.second, &value)) {
      return UserError("--dim ", dim,
                       ": expected NAME=N with a whole number N, as in --dim batch=8");
    }
    if (value < 1) {
      return UserError("--dim ", dim, ": a tensor with a dimension of ", value,
                       value == 0 ? " has no elements" : " cannot be",
                       "; give a length of at least 1, as in --dim ", parts.first, "=8");
    }
    const auto [at, added] = result.emplace(parts.first, value);
    if (!added && at->second != value) {
      return UserError("--dim ", parts.first, "=", at->second, " and --dim ", dim,
                       ": give one of them");
    }
  }
  return result;
}

}  // namespace

namespace {

// --entry and --times.
absl::StatusOr<std::vector<onnx::EntryOptions>> ParseEntries(const ModelFlags& flags) {
  std::vector<onnx::EntryOptions> entries;
  for (const std::string& flag : flags.entries) {
    const std::vector<std::string> parts = absl::StrSplit(flag, absl::MaxSplits(':', 1));
    onnx::EntryOptions entry;
    entry.name = parts[0];
    if (parts.size() == 2) {
      absl::StatusOr<std::map<std::string, int64_t>> dims =
          ParseDims(absl::StrSplit(parts[1], ',', absl::SkipEmpty()));
      if (!dims.ok()) return Annotate(dims.status(), absl::StrCat("--entry ", flag));
      entry.dims = *std::move(dims);
    }
    entries.push_back(std::move(entry));
  }
  for (const std::string& flag : flags.times) {
    const NamedValue parts = SplitNamed(flag);
    const auto entry =
        std::find_if(entries.begin(), entries.end(),
                     [&](const onnx::EntryOptions& e) { return e.name == parts.first; });
    if (entry == entries.end()) {
      return UserError("--times ", flag, ": there is no --entry ", parts.first);
    }
    if (!absl::SimpleAtoi(parts.second, &entry->times) || entry->times < 1) {
      return UserError("--times ", flag, ": expected NAME=N with a whole number N from 1, as in ",
                       "--times ", parts.first, "=16");
    }
  }
  return entries;
}

// --from-tensors and --to-tensors; none where the flag is not given.
absl::StatusOr<std::vector<std::string>> TensorNames(const char* flag, const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  names = absl::StrSplit(text, ',');
  if (std::count(names.begin(), names.end(), "") > 0) {
    return UserError(flag, " ", text, ": a name is empty; expected NAME,..., as in ", flag,
                     " boxes,scores");
  }
  return names;
}

// --batch-dim. Names of dimensions may have colons.
absl::StatusOr<std::vector<onnx::BatchDim>> ParseBatchDims(const ModelFlags& flags) {
  std::vector<onnx::BatchDim> dims;
  if (flags.batch_dim.empty()) return dims;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(flags.batch_dim, ','))) {
    onnx::BatchDim dim;
    const size_t colon = text.rfind(':');
    if (colon != std::string::npos && absl::SimpleAtoi(text.substr(colon + 1), &dim.dim)) {
      dim.input = text.substr(0, colon);
    } else {
      dim.symbol = text;
    }
    if ((dim.input.empty() && dim.symbol.empty()) || (!dim.input.empty() && dim.dim < 0)) {
      return UserError("--batch-dim ", flags.batch_dim, ": expected the name of a dimension or ",
                       "INPUT:DIMENSION, as in --batch-dim x:1; dimensions count from 0");
    }
    dims.push_back(std::move(dim));
  }
  return dims;
}

// --cache.
absl::StatusOr<std::vector<onnx::CacheOptions>> ParseCaches(const ModelFlags& flags) {
  std::vector<onnx::CacheOptions> caches;
  for (const std::string& flag : flags.caches) {
    const NamedValue parts = SplitNamed(flag);
    const size_t colon = parts.second.rfind(':');
    onnx::CacheOptions cache = {parts.first, parts.second.substr(0, colon), 0};
    if (cache.past.empty() || cache.present.empty() || colon == std::string::npos ||
        !absl::SimpleAtoi(parts.second.substr(colon + 1), &cache.length) || cache.length < 1) {
      return UserError("--cache ", flag, ": expected PAST=PRESENT:LENGTH, as in ",
                       "--cache 'past_*=present_*:1024'");
    }
    caches.push_back(std::move(cache));
  }
  return caches;
}

}  // namespace

absl::StatusOr<OperatorLibrary> LoadLibrary(const ModelFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, OperatorLibrary::BuiltIn());
  for (const std::string& file : flags.operators) {
    YUBA_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    YUBA_RETURN_IF_ERROR(library.Add(file, text));
  }
  return library;
}

absl::StatusOr<onnx::ImportOptions> ImportOptionsOf(const ModelFlags& flags,
                                                    const OperatorLibrary& library) {
  onnx::ImportOptions options;
  options.library = &library;
  YUBA_ASSIGN_OR_RETURN(options.from_tensors, TensorNames("--from-tensors", flags.from_tensors));
  YUBA_ASSIGN_OR_RETURN(options.to_tensors, TensorNames("--to-tensors", flags.to_tensors));
  options.factors = flags.factors;
  options.bind = flags.numbers;
  options.strict = flags.strict;
  options.init = flags.init;
  YUBA_ASSIGN_OR_RETURN(options.dims, ParseDims(flags.dims));
  if (flags.batch > 0) options.batch = flags.batch;
  YUBA_ASSIGN_OR_RETURN(options.batch_dims, ParseBatchDims(flags));
  for (const std::string& bind : flags.bind) {
    const NamedValue parts = SplitNamed(bind);
    if (parts.first.empty() || parts.second.empty()) {
      return UserError("--bind ", bind, ": expected NAME=FILE");
    }
    if (options.bind.count(parts.first) > 0) {
      return UserError("--bind ", bind, ": ", parts.first, " is bound twice; give one of them");
    }
    YUBA_ASSIGN_OR_RETURN(TensorData tensor, ReadTensorFile(parts.second));
    options.bind[parts.first] = {tensor.type, tensor.dims, std::move(tensor.data)};
  }
  YUBA_ASSIGN_OR_RETURN(options.entries, ParseEntries(flags));
  YUBA_ASSIGN_OR_RETURN(options.caches, ParseCaches(flags));
  if (!flags.train.empty()) {
    YUBA_ASSIGN_OR_RETURN(options.train, TrainOptionsOf(flags));
  }
  for (const std::string& state : flags.states) {
    const NamedValue parts = SplitNamed(state);
    if (parts.first.empty() || parts.second.empty()) {
      return UserError("--state ", state, ": expected OUT=IN, an output and an input of the model");
    }
    const auto [at, added] = options.state.emplace(parts);
    if (!added && at->second != parts.second) {
      return UserError("--state ", parts.first, "=", at->second, " and --state ", state,
                       ": give one of them");
    }
  }
  return options;
}

std::map<std::string, std::string> ContentHashes(const onnx::ImportOptions& options) {
  std::map<std::string, std::string> hashes;
  for (const auto& [name, value] : options.bind) {
    const auto* data = reinterpret_cast<const Bytef*>(value.data.data());
    hashes[name] = absl::StrFormat("%08x%08x", crc32_z(0, data, value.data.size()),
                                   adler32_z(1, data, value.data.size()));
  }
  return hashes;
}

void WarnOfNewOpset(const compiler::Model& model) {
  if (model.opset <= onnx::kNewestOpset) return;
  std::cerr << "warning: " << model.file << " is of opset " << model.opset << "; up to "
            << onnx::kNewestOpset << " is known, and what changed since is not: compare outputs "
            << "with `yuba run --check`, or export the model for opset " << onnx::kNewestOpset
            << "\n";
}

namespace {

// What decides what a training step computes, by the names of the flags, which is more than what
// the graph shows to people.
std::map<std::string, std::string> SettingsOf(const ModelFlags& flags) {
  std::map<std::string, std::string> settings;
  if (flags.train.empty()) return settings;
  std::vector<std::string> rows = flags.freeze_rows;
  std::sort(rows.begin(), rows.end());
  settings = {{"train", flags.train},
              {"loss", flags.loss},
              {"loss-output", flags.loss_output},
              {"minimize", flags.minimize},
              {"freeze-rows", absl::StrJoin(rows, " ")},
              {"clip", flags.clip},
              {"precision", flags.precision == Name(ElementType::kF32) ? "" : flags.precision}};
  for (auto at = settings.begin(); at != settings.end();) {
    at = at->second.empty() ? settings.erase(at) : std::next(at);
  }
  return settings;
}

}  // namespace

absl::StatusOr<LoadedModel> LoadModel(const ModelFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, LoadLibrary(flags));
  YUBA_ASSIGN_OR_RETURN(const onnx::ImportOptions options, ImportOptionsOf(flags, library));
  YUBA_ASSIGN_OR_RETURN(compiler::Model model, onnx::ImportOnnx(flags.file, options));
  WarnOfNewOpset(model);
  model.training = SettingsOf(flags);
  YUBA_RETURN_IF_ERROR(compiler::OrderModel(model));
  compiler::ClusterModel(model);
  return LoadedModel{std::move(library), std::move(model), ContentHashes(options)};
}

namespace {

// The flags of a model that take NAME=VALUE; a plan keeps them as options FLAG.NAME.
constexpr const char* kNamedFlags[] = {"dim", "bind",   "state",       "cache",    "times",
                                       "tie", "freeze", "freeze-rows", "trainable"};

// A flag that a plan keeps as "true".
constexpr char kAllowMissing[] = "allow-missing-parameters";

// The flags of a training step that take one text; a plan keeps them by these names.
constexpr std::pair<const char*, std::string ModelFlags::*> kTrainFlags[] = {
    {"train", &ModelFlags::train},
    {"loss", &ModelFlags::loss},
    {"loss-output", &ModelFlags::loss_output},
    {"metrics", &ModelFlags::metrics},
    {"minimize", &ModelFlags::minimize},
    {"lr", &ModelFlags::lr},
    {"clip", &ModelFlags::clip},
    {"precision", &ModelFlags::precision},
    {"micro-batches", &ModelFlags::micro_batches},
    {"eval-every", &ModelFlags::eval_every}};

// The flags that say which part of the model is meant and what its batch is, kept as the flags of
// training are.
constexpr std::pair<const char*, std::string ModelFlags::*> kPartFlags[] = {
    {"from-tensors", &ModelFlags::from_tensors},
    {"to-tensors", &ModelFlags::to_tensors},
    {"batch-dim", &ModelFlags::batch_dim}};

// The flag of kTrainFlags or kPartFlags, or null.
std::string ModelFlags::* TextFlag(const std::string& option) {
  for (const auto& [name, flag] : kTrainFlags) {
    if (option == name) return flag;
  }
  for (const auto& [name, flag] : kPartFlags) {
    if (option == name) return flag;
  }
  return nullptr;
}

}  // namespace

std::map<std::string, std::string> PlanOptions(const ModelFlags& flags) {
  std::map<std::string, std::string> options;
  const auto add = [&](const char* flag, const std::vector<std::string>& given) {
    for (const std::string& text : given) {
      const NamedValue parts = SplitNamed(text);
      options[absl::StrCat(flag, ".", parts.first)] = parts.second;
    }
  };
  add("dim", flags.dims);
  add("bind", flags.bind);
  add("state", flags.states);
  add("cache", flags.caches);
  add("times", flags.times);
  add("tie", flags.ties);
  add("freeze-rows", flags.freeze_rows);
  for (size_t e = 0; e < flags.entries.size(); ++e) {  // their order counts
    options[absl::StrCat("entry.", e)] = flags.entries[e];
  }
  if (flags.init) options["init"] = "true";
  if (flags.allow_missing) options[kAllowMissing] = "true";
  for (const auto& [name, text] : kTrainFlags) {
    const bool needed = !flags.train.empty() && !(flags.*text).empty();
    if (needed) options[name] = flags.*text;
  }
  for (const auto& [name, text] : kPartFlags) {
    if (!(flags.*text).empty()) options[name] = flags.*text;
  }
  for (const std::string& pattern : flags.freeze) options[absl::StrCat("freeze.", pattern)] = "";
  for (const std::string& pattern : flags.trainable)
    options[absl::StrCat("trainable.", pattern)] = "";
  if (flags.batch > 0) options["batch"] = absl::StrCat(flags.batch);
  if (!flags.factors) options["space"] = "flat";
  return options;
}

namespace {

// Whether the option is one of --entry, which a plan numbers: "entry.0".
bool IsEntry(const std::string& option) { return absl::StartsWith(option, "entry."); }

// The flag of kNamedFlags of an option of a plan, or empty: "dim" of "dim.batch".
std::string NamedFlag(const std::string& option) {
  for (const char* flag : kNamedFlags) {
    if (absl::StartsWith(option, absl::StrCat(flag, "."))) return flag;
  }
  return "";
}

// Whether the option decides which graph is planned.
bool ShapesGraph(const std::string& option) {
  return option == "batch" || option == "init" || option == kAllowMissing || IsEntry(option) ||
         TextFlag(option) != nullptr || !NamedFlag(option).empty();
}

// "dim.batch" -> "--dim batch=", "batch" -> "--batch ": the flag for an option of a plan file.
std::string FlagText(const std::string& name, const std::string& value) {
  const std::string flag = NamedFlag(name);
  if (name == "init" || name == kAllowMissing) return absl::StrCat("--", name);
  if (IsEntry(name)) return absl::StrCat("--entry ", value);
  if (flag.empty()) return absl::StrCat("--", name, " ", value);
  return absl::StrCat("--", flag, " ", name.substr(flag.size() + 1), "=", value);
}

// `status`, and as a likely cause the flags of this command line that the plan was made without.
absl::Status ExplainOptions(const absl::Status& status, const ModelFlags& given,
                            const search::PlanNotes& notes) {
  std::vector<std::string> made, added;
  for (const auto& [name, value] : PlanOptions(given)) {
    if (notes.options.count(name) == 0) added.push_back(FlagText(name, value));
  }
  if (status.ok() || added.empty()) return status;
  for (const auto& [name, value] : notes.options) {
    if (ShapesGraph(name)) made.push_back(FlagText(name, value));
  }
  return Annotate(
      status,
      absl::StrCat(absl::StrJoin(added, " "), " is given, but the plan was made with ",
                   made.empty()
                       ? "none of --from-tensors, --to-tensors, --dim, --batch, --batch-dim, "
                         "--bind, --state, --cache and --entry"
                       : absl::StrJoin(made, " ")));
}

// Whether the bound inputs have the values that the plan was made with, wherever they were read.
absl::Status CheckBound(const std::map<std::string, std::string>& bound,
                        const search::PlanNotes& notes) {
  for (const auto& [name, hash] : bound) {
    const auto expected = notes.options.find("bind_hash." + name);
    if (expected == notes.options.end()) {
      return UserError("the plan does not say the value of the bound input ", name, ": plan again");
    }
    if (expected->second == hash) continue;
    return UserError("the file bound to ", name, " has other contents (hash ", hash,
                     ") than when the plan was made (", expected->second,
                     "): bind the same values or plan again");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TakeOptions(const search::PlanNotes& notes, ModelFlags& flags) {
  const std::map<std::string, std::string> given = PlanOptions(flags);
  for (const auto& [name, value] : notes.options) {
    const std::string flag = NamedFlag(name);
    const bool bind = flag == "bind";
    if (name == "space" && (value == "flat" || value == "tofu")) flags.factors = false;
    if (!ShapesGraph(name)) continue;
    const auto mine = given.find(name);
    if (mine != given.end()) {
      if (mine->second == value || bind)
        continue;  // a bound value may be read elsewhere: CheckBound
      return UserError("the plan was made with ", FlagText(name, value), ", not ",
                       FlagText(name, mine->second), ": leave the flag out or plan again");
    }
    if (IsEntry(name)) continue;  // they come below, in their order
    if (name == "init" || name == kAllowMissing) {
      (name == "init" ? flags.init : flags.allow_missing) = true;
      continue;
    }
    if (const auto text = TextFlag(name); text != nullptr) {
      flags.*text = value;
      continue;
    }
    if (flag == "freeze" || flag == "trainable") {
      std::vector<std::string>& patterns = flag == "freeze" ? flags.freeze : flags.trainable;
      patterns.push_back(name.substr(flag.size() + 1));
      continue;
    }
    if (flag.empty()) {
      YUBA_CHECK(absl::SimpleAtoi(value, &flags.batch));  // as ReadPlan has it
      continue;
    }
    std::vector<std::string>& given_flags = bind                    ? flags.bind
                                            : flag == "dim"         ? flags.dims
                                            : flag == "cache"       ? flags.caches
                                            : flag == "times"       ? flags.times
                                            : flag == "tie"         ? flags.ties
                                            : flag == "freeze-rows" ? flags.freeze_rows
                                                                    : flags.states;
    given_flags.push_back(absl::StrCat(name.substr(flag.size() + 1), "=", value));
  }
  for (size_t e = flags.entries.size(); notes.options.count(absl::StrCat("entry.", e)) > 0; ++e) {
    flags.entries.push_back(notes.options.at(absl::StrCat("entry.", e)));
  }
  return absl::OkStatus();
}

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

// The message with `field` in the place of the flag, where it is not the beginning of another one.
std::string WithField(const std::string& message, const std::string& flag,
                      const std::string& field) {
  std::string named;
  size_t at = 0;
  for (size_t found; (found = message.find(flag, at)) != std::string::npos;) {
    const size_t end = found + flag.size();
    const bool whole =
        end == message.size() || !(absl::ascii_isalnum(message[end]) || message[end] == '-');
    absl::StrAppend(&named, message.substr(at, found - at), whole ? field : flag);
    at = end;
  }
  return absl::StrCat(named, message.substr(at));
}

// `status` of reading the model, with the names of the plan's fields in place of flags that nobody
// gave: they were taken from the plan.
absl::Status NameOptions(const absl::Status& status, const ModelFlags& given,
                         const std::string& plan_file, const search::PlanNotes& notes) {
  const std::map<std::string, std::string> mine = PlanOptions(given);
  std::string message(status.message());
  bool named = false;
  for (const auto& [name, value] : notes.options) {
    const bool bind = NamedFlag(name) == "bind";
    if (mine.count(name) > 0 || !ShapesGraph(name)) continue;
    const std::string named_flag = NamedFlag(name);
    const std::string flag = named_flag.empty() ? absl::StrCat("--", name)
                                                : absl::StrCat("--", named_flag, " ",
                                                               name.substr(named_flag.size() + 1));
    const std::string field = absl::StrCat("options.", name);
    if (std::string with = WithField(message, flag, field); with != message) {
      message = std::move(with);
    } else if (bind && absl::StartsWith(message, value + ": ")) {  // the file
      message = absl::StrCat(field, ": ", message);
    } else {
      continue;
    }
    named = true;
  }
  if (!named) return status;
  return absl::Status(status.code(), absl::StrCat(plan_file, ": ", message, ": plan again"));
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
  if (BeginsAsJson(flags.file)) {
    return UserError(flags.file,
                     " is no ONNX model, it may be a plan: the model comes before the plan");
  }
  absl::StatusOr<search::PlanFile> file = search::ReadPlan(text);
  if (!file.ok()) return Annotate(file.status(), plan_file);
  const ModelFlags given = flags;
  YUBA_RETURN_IF_ERROR(Annotate(TakeOptions(file->notes, flags), plan_file));
  absl::StatusOr<LoadedModel> read = LoadModel(flags);
  if (!read.ok()) {
    const absl::Status named = NameOptions(read.status(), given, plan_file, file->notes);
    return ExplainOptions(named, given, file->notes);
  }
  LoadedModel loaded = *std::move(read);
  for (const auto& [name, value] : flags.numbers) loaded.bound.erase(name);
  if (absl::Status bound = CheckBound(loaded.bound, file->notes); !bound.ok()) {
    return ExplainOptions(Annotate(bound, plan_file), given, file->notes);
  }
  // The plan is of the model as it was; that it fits this one is seen tensor by tensor.
  if (!flags.numbers.empty()) loaded.model.graph_hash = file->notes.graph_hash;
  Graph whole = loaded.model.graph;
  loaded.model.graph = search::SharedGraph(whole, *file);
  absl::StatusOr<search::Plan> plan =
      search::AttachPlan(loaded.model.graph, *file, NotesFor(loaded, flags));
  if (!plan.ok() && !flags.numbers.empty()) {
    return Annotate(plan.status(),
                    absl::StrCat("with another value of ", flags.numbers.begin()->first,
                                 " the model is another graph: store the value in ",
                                 "the model (yuba export) and plan again"));
  }
  if (!plan.ok()) return ExplainOptions(Annotate(plan.status(), plan_file), given, file->notes);
  if (plan->space.factors != flags.factors) {
    return absl::FailedPreconditionError(
        absl::StrCat(plan_file, ": says that its space has ", plan->space.factors ? "" : "no ",
                     "factors, but its options read the model with",
                     flags.factors ? " them" : "out", ": plan again"));
  }
  const int64_t moved = search::CostOf(loaded.model.graph, *plan).bytes();
  if (moved != plan->cost.bytes()) {
    return absl::FailedPreconditionError(
        absl::StrCat(plan_file, ": says that a step moves ", plan->cost.bytes(),
                     " bytes, but its shardings move ", moved, ": plan again"));
  }
  return PlannedModel{std::move(loaded), std::move(whole), *std::move(file), *std::move(plan),
                      std::move(text)};
}

}  // namespace yuba::tools
