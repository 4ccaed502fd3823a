#include "compiler/import/loss.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// The description of that name, with - for _.
absl::StatusOr<const OpDescription*> Find(const char* flag, const std::string& name,
                                          const OperatorLibrary& library) {
  const OpDescription* found = library.Find(absl::StrReplaceAll(name, {{"-", "_"}}));
  if (found != nullptr) return found;
  return UserError(flag, " ", name,
                   ": there is no description of that name; `yuba op` lists them, ",
                   "and --operators adds some");
}

// The attributes that the text NAME=NUMBER,... gives.
absl::StatusOr<Attributes> AttributesOf(const OpDescription& op, const std::string& text) {
  Attributes attributes;
  std::vector<std::string> names;
  for (const Attribute& attribute : op.attributes) names.push_back(attribute.name);
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::vector<std::string> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    double number = 0;
    if (pair.size() != 2 || !absl::SimpleAtod(pair[1], &number)) {
      return UserError("'", part, "' is no NAME=NUMBER");
    }
    if (std::count(names.begin(), names.end(), pair[0]) == 0) {
      return UserError(op.name, " has no attribute ", pair[0], "; it has ",
                       names.empty() ? "none" : absl::StrJoin(names, ", "));
    }
    attributes[pair[0]] = number;
  }
  return attributes;
}

// Extents of packs and names of the dimensions of an operand of this shape; nothing where it does
// not fit.
using Extents = std::map<std::string, std::vector<int64_t>>;
absl::optional<Extents> Bind(const Param& param, const std::vector<int64_t>& dims) {
  const auto packs = std::count_if(param.dims.begin(), param.dims.end(),
                                   [](const Dim& dim) { return dim.pack(); });
  const size_t others = param.dims.size() - static_cast<size_t>(packs);
  if (packs > 1 || dims.size() < others || (packs == 0 && dims.size() != others))
    return absl::nullopt;
  Extents extents;
  auto next = dims.begin();
  for (const Dim& dim : param.dims) {
    if (dim.element().kind != Syntax::kName) return absl::nullopt;
    const auto count = dim.pack() ? static_cast<int64_t>(dims.size() - others) : int64_t{1};
    extents[dim.element().name] = std::vector<int64_t>(next, next + count);
    next += count;
  }
  return extents;
}

absl::StatusOr<OnnxValue> LabelsFor(const OpDescription& loss, const OnnxValue& judged) {
  const bool shaped =
      loss.params.size() == 2 && loss.outputs.size() == 1 && loss.outputs[0].dims.empty();
  if (!shaped) {
    return UserError(loss.name, " is no loss: it needs two operands, an output of the model and ",
                     "labels, and one output without dimensions");
  }
  const auto extents = Bind(loss.params[0], judged.dims);
  if (!extents.has_value()) {
    return UserError("the loss ", loss.name, " does not take an output of shape [",
                     absl::StrJoin(judged.dims, ", "), "]");
  }
  OnnxValue labels;
  labels.name = kLabels;
  labels.kind = TensorKind::kInput;
  labels.type = loss.params[1].type == "int" ? ElementType::kI64 : judged.type;
  for (const Dim& dim : loss.params[1].dims) {
    const auto found = extents->find(dim.element().name);
    if (dim.element().kind != Syntax::kName || found == extents->end()) {
      return UserError("the loss ", loss.name, ": the dimensions of its second operand must be ",
                       "among those of its first");
    }
    labels.dims.insert(labels.dims.end(), found->second.begin(), found->second.end());
  }
  labels.dim_names.resize(labels.dims.size());
  return labels;
}

// The input of that name of an earlier entry, where it is the same; else a new one.
int AddLabels(OnnxValue labels, OnnxGraph& graph) {
  for (const int v : graph.earlier[labels.name]) {
    if (graph.values[v].type != labels.type || graph.values[v].dims != labels.dims) continue;
    graph.values[v].entry = OnnxValue::kCommon;
    return v;
  }
  labels.entry = graph.entry;
  graph.values.push_back(std::move(labels));
  graph.inputs.push_back(static_cast<int>(graph.values.size()) - 1);
  return graph.inputs.back();
}

// The output that the loss judges, among those from position `first` on.
absl::StatusOr<int> Judged(const std::string& name, size_t first, const OnnxGraph& graph) {
  std::set<int> next;  // values of states
  for (const OnnxGraph::CarriedValues& pair : graph.carried) next.insert(pair.next);
  std::vector<int> outputs;
  std::vector<std::string> names;
  for (size_t o = first; o < graph.outputs.size(); ++o) {
    const int output = graph.outputs[o];
    if (next.count(output) > 0) continue;
    if (graph.values[output].name == name) return output;
    outputs.push_back(output);
    names.push_back(graph.values[output].name);
  }
  if (name.empty() && outputs.size() == 1) return outputs[0];
  if (outputs.empty()) {
    return UserError(
        "every output of the model is the next value of a state, so there is none for ",
        "the loss to judge");
  }
  return UserError(
      name.empty() ? "the model has several outputs: say by --loss-output which the loss judges, "
                   : absl::StrCat("--loss-output ", name, ": the model has no such output; "),
      "one of ", absl::StrJoin(names, ", "));
}

}  // namespace

absl::StatusOr<compiler::TrainRecipe> RecipeOf(const TrainOptions& options,
                                               const OperatorLibrary& library) {
  const std::vector<std::string> parts = absl::StrSplit(options.optimizer, absl::MaxSplits(':', 1));
  YUBA_ASSIGN_OR_RETURN(const OpDescription* optimizer, Find("--train", parts[0], library));
  const std::string flag = absl::StrCat("--train ", options.optimizer);
  YUBA_RETURN_IF_ERROR(Annotate(compiler::CheckOptimizer(*optimizer), flag));
  compiler::TrainRecipe recipe;
  recipe.loss = kLossName;
  recipe.optimizer = {*optimizer, {}, {{"lr", options.lr}}};
  if (parts.size() > 1) {
    absl::StatusOr<Attributes> attributes = AttributesOf(*optimizer, parts[1]);
    if (!attributes.ok()) return Annotate(attributes.status(), flag);
    recipe.optimizer.attributes = *std::move(attributes);
  }
  recipe.freeze = options.freeze;
  recipe.precision = options.precision;
  if (options.micro_batches > 1) {
    YUBA_ASSIGN_OR_RETURN(const OpDescription* sum,
                          Find("--micro-batches", "mean_over_parts", library));
    YUBA_RETURN_IF_ERROR(Annotate(compiler::CheckOptimizer(*sum), "--micro-batches"));
    recipe.micro_batches = {{*sum, {{"parts", static_cast<double>(options.micro_batches)}}, {}},
                            kTrainEntry,
                            std::max<int64_t>(options.eval_every, 1)};
  }
  if (options.clip > 0) {
    YUBA_ASSIGN_OR_RETURN(const OpDescription* squares, Find("--clip", "squared_norm", library));
    YUBA_ASSIGN_OR_RETURN(const OpDescription* root, Find("--clip", "sqrt", library));
    YUBA_ASSIGN_OR_RETURN(const OpDescription* clipped, Find("--clip", "clipped", library));
    recipe.clipping = compiler::Clipping{*squares, *root, *clipped, options.clip};
  }
  return recipe;
}

absl::Status AddLoss(const TrainOptions& options, const OperatorLibrary& library,
                     NodeContext& context, size_t first, OnnxGraph& graph) {
  YUBA_ASSIGN_OR_RETURN(const OpDescription* loss, Find("--loss", options.loss, library));
  YUBA_ASSIGN_OR_RETURN(const int judged, Judged(options.output, first, graph));
  absl::StatusOr<OnnxValue> labels = LabelsFor(*loss, graph.values[judged]);
  if (!labels.ok()) return Annotate(labels.status(), absl::StrCat("--loss ", options.loss));
  for (const char* name : {kLabels, kLossName}) {
    if (graph.by_name.count(name) == 0) continue;
    return UserError("--train: the model calls a value '", name, "', which is the name of what ",
                     "training adds: rename the value");
  }
  const int given = AddLabels(*std::move(labels), graph);
  const int value = context.Entry(loss->name, {judged, given});
  if (context.failed()) return context.status();
  if (!IsFloat(graph.values[value].type)) {
    return UserError("--loss ", options.loss, ": its result is ", Name(graph.values[value].type),
                     ", and only floats can be minimized");
  }
  graph.values[value].name = kLossName;
  graph.values[value].entry = graph.entry;
  graph.outputs.resize(first);
  graph.outputs.push_back(value);
  for (const OnnxGraph::CarriedValues& pair : graph.carried) graph.outputs.push_back(pair.next);
  return absl::OkStatus();
}

}  // namespace yuba::onnx
