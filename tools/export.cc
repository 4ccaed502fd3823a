// yuba export: trained weights back into the model's file.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <set>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/import/file/read.h"
#include "compiler/import/file/replace_values.h"
#include "compiler/import/formed_initializers.h"
#include "compiler/import/options.h"
#include "compiler/phases.h"
#include "compiler/train/trainable.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/form_values.h"
#include "tools/command.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/checkpoint/missing_weights.h"
#include "tools/run/checkpoint/weights.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

struct ExportFlags {
  std::string model, weights, prefix, output;
  std::vector<std::string> ties;
  bool partial = false;
};

absl::StatusOr<std::vector<onnx::TiedNames>> ReadTies(const std::vector<std::string>& flags) {
  std::vector<onnx::TiedNames> ties;
  for (const std::string& tie : flags) {
    const std::vector<std::string> names = absl::StrSplit(tie, absl::MaxSplits('=', 1));
    if (names.size() != 2) return UserError("--tie ", tie, ": expected two names, A=B");
    ties.push_back({names[0], names[1]});
  }
  return ties;
}

// Sizes for what a file leaves open, so that it can be read without any: which of its initializers
// are weights does not depend on them.
absl::StatusOr<onnx::ImportOptions> SomeSizes(const std::string& file) {
  constexpr int64_t kSize = 2;
  YUBA_ASSIGN_OR_RETURN(const ::onnx::ModelProto model, onnx::ReadModelFile(file));
  onnx::ImportOptions options;
  for (const ::onnx::ValueInfoProto& input : model.graph().input()) {
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (!dim.dim_param().empty()) options.dims[dim.dim_param()] = kSize;
    }
  }
  return options;
}

// What --train would train or freeze; an error where the model cannot be planned.
absl::StatusOr<std::set<std::string>> WeightsOf(const std::string& file) {
  YUBA_ASSIGN_OR_RETURN(const OperatorLibrary library, OperatorLibrary::BuiltIn());
  compiler::Compilation compilation;
  compilation.request.model_file = file;
  YUBA_ASSIGN_OR_RETURN(compilation.request.import, SomeSizes(file));
  compilation.request.import.library = &library;
  compiler::PhaseOptions options;
  options.to = "carry";
  YUBA_RETURN_IF_ERROR(compiler::RunPhases(options, compilation));
  return compiler::TrainableParameters(compilation.model);
}

using Formed = std::map<std::string, onnx::FormedInitializer>;

// Values of initializers that are parameters of PyTorch's in another form.
struct FormedValues {
  std::map<std::string, TensorData> made;
  std::set<std::string> used;         // names that they were taken from
  std::vector<std::string> computed;  // initializers of parameters that have values, for people
};

// Whether there are values of parameters of which the model has only what was computed of them.
bool IsComputed(const StoredForm& form, const std::map<std::string, StoredView>& views) {
  return form.kind == StoredForm::kUnknown &&
         std::any_of(form.parameters.begin(), form.parameters.end(), [&](const std::string& name) {
           return name != form.stored_as && views.count(name) > 0;
         });
}

// The user's error where a tensor is joined of several parameters and the files have some of them.
absl::Status CheckWhole(const std::string& path, const StoredForm& form, const FormedValue& value,
                        const std::map<std::string, StoredView>& views) {
  if (value.view.has_value() || value.made.has_value()) return absl::OkStatus();
  std::vector<std::string> there, lacking;
  for (const std::string& name : form.parameters) {
    (views.count(name) > 0 ? there : lacking).push_back(name);
  }
  if (there.empty() || lacking.empty()) return absl::OkStatus();
  return UserError(path, ": has ", FirstOf(there), " and lacks ", FirstOf(lacking),
                   ", which the model stores as one tensor: give all of them or none");
}

// Adds to `views` what is in the files as it is. `own`: they are a checkpoint of the model.
absl::StatusOr<FormedValues> AddFormed(const std::string& path, const Formed& formed, bool own,
                                       std::map<std::string, StoredView>& views) {
  FormedValues values;
  for (const auto& [name, initializer] : formed) {
    if (!own && IsComputed(initializer.form, views)) {
      views.erase(name);
      values.computed.push_back(ComputedText(initializer.form));
      continue;
    }
    const auto find = [&](const std::string& one) -> absl::StatusOr<absl::optional<StoredView>> {
      const auto found = views.find(one);
      if (found == views.end()) return absl::optional<StoredView>();
      return absl::make_optional(found->second);
    };
    absl::StatusOr<FormedValue> value = FindInForm(initializer.form, initializer.dims, find);
    if (!value.ok()) return Annotate(value.status(), path);
    if (value->view.has_value()) views[name] = *value->view;
    YUBA_RETURN_IF_ERROR(CheckWhole(path, initializer.form, *value, views));
    if (value->made.has_value()) values.made[name] = *std::move(value->made);
    values.used.insert(NameOf(initializer.form));
    values.used.insert(initializer.form.parameters.begin(), initializer.form.parameters.end());
  }
  return values;
}

// Adds initializers that the files have as part of other tensors.
absl::Status AddParts(const std::string& model, const WeightFiles& weights, FormedValues& values) {
  if (weights.formed.empty()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const ::onnx::ModelProto proto, onnx::ReadModelFile(model));
  for (const ::onnx::TensorProto& tensor : proto.graph().initializer()) {
    const auto formed = weights.formed.find(tensor.name());
    if (formed == weights.formed.end()) continue;
    const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    YUBA_ASSIGN_OR_RETURN(values.made[tensor.name()], ReadFormed(weights, tensor.name(), dims));
    values.used.insert(formed->second.stored);
  }
  return absl::OkStatus();
}

// Puts parameters back that the model does not store each by itself, where one of them has a value,
// perhaps in another form.
onnx::PrepareModel RestoreFor(const std::string& path,
                              const std::map<std::string, StoredView>& views,
                              const WeightFiles& weights) {
  return [&, folder = onnx::FolderOf(path)](::onnx::ModelProto& model) -> absl::Status {
    ::onnx::ModelProto restored = model;
    YUBA_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          onnx::RestoreInitializers(folder, restored));
    const auto has = [&](const std::string& name) {
      return views.count(name) + weights.formed.count(name) > 0 ||
             std::any_of(views.begin(), views.end(),
                         [&](const auto& view) { return IsFormOf(view.first, name); });
    };
    const bool valued = std::any_of(names.begin(), names.end(), has);
    if (valued) model = std::move(restored);
    return absl::OkStatus();
  };
}

// Whether some of the tensors, which the model does not have, are no numbers or states of an
// optimizer: then a checkpoint is one of another export of the model.
bool HasOthers(const WeightFiles& weights, const std::vector<std::string>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const std::string& name) {
    const auto tensor = weights.file.tensors.find(name);
    if (tensor == weights.file.tensors.end() || tensor->second.dims.empty()) return false;
    const auto weight = weights.file.tensors.find(name.substr(0, name.rfind('.')));
    return weight == weights.file.tensors.end() || weight->first == name ||
           weight->second.dims != tensor->second.dims;
  });
}

// Weights of the model that have no new value. A checkpoint of the model has all that were in its
// plan. `unused`: what the files have besides.
absl::Status CheckKept(const ExportFlags& flags, const WeightFiles& weights, const Formed& formed,
                       const std::vector<std::string>& kept,
                       const std::vector<std::string>& unused) {
  for (const std::string& name : kept) {
    for (const auto& [tensor, value] : weights.file.tensors) {
      if (!IsFormOf(tensor, name)) continue;
      return UserError(flags.weights, ": it is a checkpoint of another export, which has ", name,
                       " as '", tensor, "', in an order that it does not say: save it anew with ",
                       "this version (--resume with --save)");
    }
  }
  const bool own = IsCheckpoint(weights) && !HasOthers(weights, unused);
  if (own || kept.empty()) return absl::OkStatus();
  const absl::StatusOr<std::set<std::string>> needed = WeightsOf(flags.model);
  std::vector<std::string> missing;
  for (const std::string& stored : kept) {
    const auto form = formed.find(stored);
    const std::string name = form == formed.end() ? stored : NameOf(form->second.form);
    if (!needed.ok() || needed->count(name) > 0) missing.push_back(name);
  }
  if (needed.ok() && !missing.empty() && !flags.partial) {
    return MissingWeights(flags.weights, missing);
  }
  if (!missing.empty()) std::cout << "as they were: " << FirstOf(missing) << "\n";
  return absl::OkStatus();
}

// The user's error where there are values of parameters that the model does not have. With
// --partial-weights tensors that are called so stay as they are.
absl::Status CheckMissing(const ExportFlags& flags, const WeightFiles& weights,
                          const std::map<std::string, std::string>& missing, const Formed& formed,
                          std::map<std::string, StoredView>& views) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<std::string> names, ValuesOfMissing(weights, missing));
  if (!names.empty() && !flags.partial) return MissingPlaces(flags.weights, names);
  for (const std::string& name : names) {
    const std::string& stored = missing.at(name);
    const auto form = formed.find(stored);
    const bool renamed = form != formed.end() && form->second.form.kind == StoredForm::kRenamed;
    if (stored == name || renamed) views.erase(stored);
  }
  return absl::OkStatus();
}

// Writes the model and the file of values that it names, or neither.
absl::Status WriteBoth(const std::string& path, const onnx::ReplacedValues& replaced) {
  YUBA_RETURN_IF_ERROR(CheckOutput(path));
  if (replaced.outside.empty()) return WriteFile(path, replaced.model);
  const std::string data = path + ".data";
  YUBA_RETURN_IF_ERROR(replaced.outside.Write(data));
  const absl::Status written = WriteFile(path, replaced.model);
  if (!written.ok()) ::unlink(data.c_str());
  return written;
}

absl::Status Export(const ExportFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const WeightFiles weights, ReadWeights(flags.weights, flags.prefix));
  YUBA_ASSIGN_OR_RETURN(const auto ties, ReadTies(flags.ties));
  YUBA_ASSIGN_OR_RETURN(const onnx::FormedInitializers initializers,
                        onnx::FindFormedInitializers(flags.model));
  const Formed& formed = initializers.formed;
  std::map<std::string, StoredView> views = AllWeights(weights);
  const bool own = IsCheckpointOf(weights, initializers.missing);
  YUBA_ASSIGN_OR_RETURN(FormedValues values, AddFormed(flags.weights, formed, own, views));
  YUBA_RETURN_IF_ERROR(AddParts(flags.model, weights, values));
  if (!values.computed.empty() && !flags.partial) {
    return MissingWeights(flags.weights, values.computed);
  }
  YUBA_RETURN_IF_ERROR(CheckMissing(flags, weights, initializers.missing, formed, views));
  YUBA_ASSIGN_OR_RETURN(const onnx::ReplacedValues replaced,
                        onnx::ReplaceValues(flags.model, flags.output, views, ties, values.made,
                                            RestoreFor(flags.model, views, weights)));
  std::vector<std::string> unused;  // names that share a value are no tensors
  for (const std::string& name : replaced.unused) {
    if (weights.shared.count(name) + values.used.count(name) == 0) unused.push_back(name);
  }
  YUBA_RETURN_IF_ERROR(CheckKept(flags, weights, formed, replaced.kept, unused));
  YUBA_RETURN_IF_ERROR(WriteBoth(flags.output, replaced));
  std::cout << "wrote " << flags.output << " ("
            << Bytes(static_cast<int64_t>(replaced.model.size())) << ") with "
            << Counted(replaced.replaced, "new value")
            << (replaced.outside.empty() ? "" : ", and " + replaced.outside.name() + " beside it")
            << "\n";
  if (!unused.empty()) std::cout << "not in the model: " << absl::StrJoin(unused, ", ") << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddExport(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = AddCommand(app, "export", "write trained weights back into a model's file");
  command->add_option("model", flags->model, "the model, an ONNX file")->required();
  command
      ->add_option("--weights", flags->weights,
                   "new values of initializers by name, a file of safetensors or a folder with "
                   "several and an index, as yuba run --save writes them")
      ->required();
  command->add_option("--weights-prefix", flags->prefix,
                      "take this away from names in --weights that begin with it, as in model.");
  command->add_flag(
      "--partial-weights", flags->partial,
      "weights that --weights does not have stay as they are in the model, and values "
      "of parameters that the model's file lacks are passed over");
  command
      ->add_option("--tie", flags->ties,
                   "A=B, as yuba partition had it: A gets the new value of B too")
      ->take_all();
  command
      ->add_option("-o,--output", flags->output,
                   "the new ONNX file; values that are in a file beside the model are copied where "
                   "the new one is in another folder")
      ->required();
  OnRun(command, exit_code, [flags] { return Export(*flags); });
}

}  // namespace yuba::tools
