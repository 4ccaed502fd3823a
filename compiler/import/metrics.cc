#include "compiler/import/metrics.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/import/loss.h"
#include "compiler/train/options.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

absl::StatusOr<std::vector<int>> AddMetric(const OpDescription& metric, const Named& loss,
                                           int judged, int labels, NodeContext& context,
                                           OnnxGraph& graph) {
  YUBA_ASSIGN_OR_RETURN(const OnnxValue wanted, LabelsFor(metric, graph.values[judged]));
  const OnnxValue& given = graph.values[labels];
  if (wanted.type != given.type || wanted.dims != given.dims) {
    return UserError("it judges by labels of another type or shape than the loss ", loss.op->name);
  }
  Attributes attributes;
  for (const Attribute& attribute : metric.attributes) {
    const auto found = loss.attributes.find(attribute.name);
    if (found != loss.attributes.end()) attributes.insert(*found);
  }
  const int operand = Operand(metric, judged, context, graph);
  std::vector<int> values = context.EntryOutputs(metric.name, {operand, labels}, attributes);
  if (context.failed()) return context.status();
  graph.uses.back().mixes = Use::Mixes::kLoss;
  if (values.size() == 2) values[0] = context.Entry(compiler::kWeightedMean, values);
  if (context.failed()) return context.status();
  for (size_t v = 0; v < values.size(); ++v) {
    OnnxValue& value = graph.values[values[v]];
    value.name = v == 0 ? metric.name : WeightNameOf(metric.name);
    value.entry = graph.entry;
  }
  return values;
}

}  // namespace

absl::StatusOr<std::vector<int>> AddMetrics(const std::string& metrics, const Named& loss,
                                            int judged, int labels, const OperatorLibrary& library,
                                            NodeContext& context, OnnxGraph& graph) {
  std::vector<int> outputs;
  std::set<std::string> seen;
  for (const std::string& name :
       std::vector<std::string>(absl::StrSplit(metrics, ',', absl::SkipEmpty()))) {
    YUBA_ASSIGN_OR_RETURN(const OpDescription* metric, FindMetric(name, library));
    const std::string flag = absl::StrCat("--metrics ", name);
    if (!seen.insert(metric->name).second) return UserError(flag, ": it is named twice");
    for (const std::string& taken : {metric->name, WeightNameOf(metric->name)}) {
      if (graph.by_name.count(taken) == 0 && taken != kLossName) continue;
      return UserError(flag, ": the model or its training has a value '", taken,
                       "', which is the name of what is measured: rename the value");
    }
    auto values = AddMetric(*metric, loss, judged, labels, context, graph);
    if (!values.ok()) return Annotate(values.status(), flag);
    outputs.insert(outputs.end(), values->begin(), values->end());
  }
  return outputs;
}

}  // namespace yuba::onnx
