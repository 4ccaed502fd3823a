#include "compiler/import/loss.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/metrics.h"
#include "compiler/import/train_recipe.h"
#include "compiler/train/options.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

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

}  // namespace

std::string WeightNameOf(const std::string& name) { return absl::StrCat(name, "_weight"); }

int Operand(const OpDescription& loss, int judged, NodeContext& context, const OnnxGraph& graph) {
  const bool widens = loss.outputs.size() == 2;
  return widens ? context.Cast(judged, AccumulatorType(graph.values[judged].type)) : judged;
}

absl::StatusOr<OnnxValue> LabelsFor(const OpDescription& loss, const OnnxValue& judged) {
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

namespace {

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

// The output `name` that the loss judges, among those from position `first` on; `flag` is what
// stands before the name where a user gives it.
absl::StatusOr<int> Judged(const std::string& flag, const std::string& name, size_t first,
                           const OnnxGraph& graph) {
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
      name.empty()
          ? "the model has several outputs: say by --loss NAME@OUTPUT which the loss judges, "
          : absl::StrCat(flag, name, ": the model has no such output; "),
      "one of ", absl::StrJoin(names, ", "));
}

// The value of the loss and, of one that has a weight, of that and the total; else -1.
struct LossValues {
  int loss = -1, weight = -1, total = -1;
  std::vector<int> metrics;  // outputs, with their weights
};

// The quotient of both, by the names of a loss.
LossValues Weighted(int total, int weight, NodeContext& context, OnnxGraph& graph) {
  LossValues values;
  values.weight = weight;
  values.total = total;
  values.loss = context.Entry(compiler::kWeightedMean, {total, weight});
  for (const auto& [value, name] : {std::pair(total, kLossTotal), std::pair(weight, kLossWeight)}) {
    if (context.failed()) return values;
    graph.values[value].name = name;
    graph.values[value].entry = graph.entry;
  }
  return values;
}

// A use of the description, and the labels that it needs.
absl::StatusOr<LossValues> UseLoss(const TrainOptions& options, const OperatorLibrary& library,
                                   size_t first, NodeContext& context, OnnxGraph& graph) {
  YUBA_ASSIGN_OR_RETURN(const Named loss, FindLoss(options.loss, library));
  YUBA_ASSIGN_OR_RETURN(const int judged, Judged(absl::StrCat("--loss ", options.loss, "@"),
                                                 options.output, first, graph));
  absl::StatusOr<OnnxValue> labels = LabelsFor(*loss.op, graph.values[judged]);
  if (!labels.ok()) return Annotate(labels.status(), absl::StrCat("--loss ", options.loss));
  const int given = AddLabels(*std::move(labels), graph);
  LossValues values;
  const bool weighted = loss.op->outputs.size() == 2;
  const std::vector<int> outputs = context.EntryOutputs(
      loss.op->name, {Operand(*loss.op, judged, context, graph), given}, loss.attributes);
  values.loss = outputs[0];
  if (context.failed()) return values;
  graph.uses.back().mixes = Use::Mixes::kLoss;
  if (weighted) values = Weighted(outputs[0], outputs[1], context, graph);
  if (context.failed()) return values;
  YUBA_ASSIGN_OR_RETURN(values.metrics,
                        AddMetrics(options.metrics, loss, judged, given, library, context, graph));
  return values;
}

// An output of the model that is a loss by itself.
absl::StatusOr<LossValues> Minimized(const std::string& name, size_t first, NodeContext& context,
                                     OnnxGraph& graph) {
  YUBA_ASSIGN_OR_RETURN(const int output, Judged("--minimize ", name, first, graph));
  LossValues values;
  OnnxValue& judged = graph.values[output];
  const absl::StatusOr<int64_t> elements = ElementsOf(judged.dims);
  if (!elements.ok() || *elements != 1) {
    return UserError("--minimize ", name, ": the output is ", Name(judged.type), "[",
                     absl::StrJoin(judged.dims, ", "), "], and what is minimized is one number; ",
                     "--loss makes one of such an output and of labels");
  }
  judged.name.clear();  // the loss has a name of its own
  for (Use& use : graph.uses) {
    const auto makes = [&](int value) {
      return value >= 0 && std::count(use.values.begin(), use.values.end(), value) > 0;
    };
    if (makes(judged.total) || makes(judged.weight)) use.mixes = Use::Mixes::kLoss;
  }
  if (judged.total >= 0) return Weighted(judged.total, judged.weight, context, graph);
  values.loss = judged.dims.empty() ? output : context.Reshape(output, {});
  return values;
}

// The user's error where the file gives a name that training adds.
absl::Status CheckNames(const TrainOptions& options, const OnnxGraph& graph) {
  for (const char* name : {kLabels, kLossName, kLossTotal, kLossWeight}) {
    const bool own = !options.minimize.empty() && (name == options.minimize || name == kLabels);
    if (own || graph.by_name.count(name) == 0) continue;
    return UserError("--train: the model calls a value '", name, "', which is the name of what ",
                     "training adds: rename the value");
  }
  return absl::OkStatus();
}

// Lets the model's own states, such as running statistics, stay where the loss has no weight.
void KeepStates(int weight, NodeContext& context, OnnxGraph& graph) {
  for (OnnxGraph::CarriedValues& pair : graph.carried) {
    const int kept = context.Entry("kept_without_weight", {pair.state, pair.next, weight});
    if (context.failed()) return;
    std::swap(graph.values[kept].name, graph.values[pair.next].name);
    graph.values[kept].entry = graph.values[pair.next].entry;
    graph.values[kept].dim_names = graph.values[pair.next].dim_names;
    pair.next = kept;
  }
}

}  // namespace

absl::Status AddLoss(const TrainOptions& options, const OperatorLibrary& library,
                     NodeContext& context, size_t first, OnnxGraph& graph) {
  const bool minimizes = !options.minimize.empty();
  const std::string flag = minimizes ? absl::StrCat("--minimize ", options.minimize)
                                     : absl::StrCat("--loss ", options.loss);
  YUBA_RETURN_IF_ERROR(CheckNames(options, graph));
  absl::StatusOr<LossValues> made = minimizes ? Minimized(options.minimize, first, context, graph)
                                              : UseLoss(options, library, first, context, graph);
  if (!made.ok()) return made.status();
  const auto& [value, weight, total, metrics] = *made;
  if (weight >= 0 && !context.failed()) KeepStates(weight, context, graph);
  if (context.failed()) return Annotate(context.status(), flag);
  if (!IsFloat(graph.values[value].type)) {
    return UserError(flag, ": its result is ", Name(graph.values[value].type),
                     ", and only floats can be minimized");
  }
  graph.values[value].name = kLossName;
  graph.values[value].entry = graph.entry;
  graph.outputs.resize(first);
  graph.outputs.push_back(value);
  if (weight >= 0) graph.outputs.push_back(weight);
  graph.outputs.insert(graph.outputs.end(), metrics.begin(), metrics.end());
  for (const OnnxGraph::CarriedValues& pair : graph.carried) graph.outputs.push_back(pair.next);
  // Where gradients are of the total it has to stay; behind all others, for training takes it away.
  if (total >= 0 && options.micro_batches > 1 && !graph.evaluates) graph.outputs.push_back(total);
  return absl::OkStatus();
}

}  // namespace yuba::onnx
