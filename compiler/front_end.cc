#include "compiler/front_end.h"

#include <algorithm>
#include <limits>

#include "compiler/import/onnx.h"
#include "compiler/import/random_numbers.h"
#include "compiler/import/source.h"
#include "compiler/simplify/fold_scales.h"
#include "compiler/simplify/invariants.h"
#include "compiler/simplify/simplify.h"
#include "compiler/train/train.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/sharding/work.h"

namespace yuba::compiler {
namespace {

// Of all entries, each as often as it runs; of training what one step needs. In training the last
// entry is the step, and evaluation is no part of it.
int64_t FlopsOf(const Graph& graph, bool trains) {
  double sum = 0;
  for (const Node& node : graph.nodes) {
    const Entry& entry = graph.entries[node.entry];
    if (trains && entry.name == onnx::kEvalEntry) continue;
    const int64_t times = trains ? entry.times / graph.entries.back().times : entry.times;
    sum += static_cast<double>(times) *
           WorkOf(*node.definition, WholeRanges(*node.definition)).operations;
  }
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return sum < static_cast<double>(kMost) ? static_cast<int64_t>(sum) : kMost;
}

// The tensor of this name; null where there is none.
const Tensor* FindTensor(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == graph.tensors.end() ? nullptr : &*found;
}

// Whether the canonical order is the order in which the graph is.
absl::Status CheckCanonical(const Model& model) {
  Model ordered;
  ordered.graph = model.graph;
  ordered.gradient_rules = model.gradient_rules;
  PutInCanonicalOrder(ordered);
  const auto same_name = [](const auto& a, const auto& b) { return a.name == b.name; };
  const Graph &found = model.graph, &expected = ordered.graph;
  const bool equal = std::equal(found.tensors.begin(), found.tensors.end(),
                                expected.tensors.begin(), expected.tensors.end(), same_name) &&
                     std::equal(found.nodes.begin(), found.nodes.end(), expected.nodes.begin(),
                                expected.nodes.end(), same_name);
  return equal ? absl::OkStatus() : ProofError("the graph is not in its canonical order");
}

}  // namespace

absl::Status Import(Compilation& c) {
  std::shared_ptr<const onnx::Source> source = c.model.source;
  if (source == nullptr) {
    YUBA_ASSIGN_OR_RETURN(source, onnx::ReadSource(c.request.model_file, c.request.import));
  }
  c.model = onnx::ModelOf(std::move(source), c.request.import.factors);
  c.model.training = c.request.training;
  return absl::OkStatus();
}

absl::Status VerifyImport(Compilation& c) {
  const Graph& graph = c.model.graph;
  CheckGraph(graph);
  const int inputs = static_cast<int>(graph.inputs.size());
  const int outputs = static_cast<int>(graph.outputs.size());
  const auto lies_within = [&](const std::vector<GradientRule::Pair>& pairs, int gradients) {
    return std::all_of(pairs.begin(), pairs.end(), [&](const GradientRule::Pair& pair) {
      return 0 <= pair.of && pair.of < outputs && -1 <= pair.gradient && pair.gradient < gradients;
    });
  };
  for (const GradientRule& rule : c.model.gradient_rules) {
    if (lies_within(rule.outputs, inputs) && lies_within(rule.operands, outputs)) continue;
    return ProofError("a rule for gradients names inputs or outputs that the graph does not have");
  }
  return absl::OkStatus();
}

absl::Status Simplify(Compilation& c) {
  Model& model = c.model;
  const Gradients gradients =
      model.source->train.has_value() ? Gradients::kToCome : Gradients::kNone;
  ReplaceLiterals(model);
  RemoveViews(model, gradients);
  const std::vector<CachedRows> caches = onnx::CachedRowsOf(model);
  for (const CachedRows& cache : caches) {
    model.graph.tensors[cache.count].cache_rows = cache.length;
  }
  YUBA_RETURN_IF_ERROR(HideUnusedRows(model, caches));
  ComposeMaps(model, gradients);
  PutInCanonicalOrder(model);
  return absl::OkStatus();
}

absl::Status VerifySimplify(Compilation& c) {
  YUBA_RETURN_IF_ERROR(VerifyImport(c));
  return CheckCanonical(c.model);
}

absl::Status Train(Compilation& c) {
  Model& model = c.model;
  if (!model.source->train.has_value()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(c.updated, MakeTrainingStep(model, *model.source->train));
  YUBA_RETURN_IF_ERROR(onnx::CheckNumbers(*model.source, c.updated));
  ReplaceLiterals(model);
  RemoveViews(model);
  ComposeMaps(model);
  RecomputeMaps(model);
  PutInCanonicalOrder(model);
  return absl::OkStatus();
}

absl::Status VerifyTrain(Compilation& c) {
  const Graph& graph = c.model.graph;
  CheckGraph(graph);
  if (!c.model.gradient_rules.empty()) return ProofError("rules for gradients are left");
  for (const UpdatedState& pair : c.updated) {
    const Tensor *state = FindTensor(graph, pair.state), *next = FindTensor(graph, pair.next);
    if (state != nullptr && IsStored(state->kind) && next != nullptr && next->output &&
        state->type.type == next->type.type && WholeDims(*state) == WholeDims(*next)) {
      continue;
    }
    return ProofError(pair.next, " is not the next value of ", pair.state);
  }
  return CheckCanonical(c.model);
}

absl::Status Carry(Compilation& c) {
  Model& model = c.model;
  const onnx::Source& source = *model.source;
  YUBA_ASSIGN_OR_RETURN(const std::vector<CarriedPair> pairs,
                        onnx::CarriedPairsOf(model, c.updated));
  CarryStates(model, pairs);
  KnowConditions(model);
  YUBA_RETURN_IF_ERROR(CheckKnownIndices(model));
  if (source.graph.step >= 0) onnx::CountSteps(model.graph);
  if (source.init) {
    FoldScales(model);
    MoveInvariantsToInit(model);
  }
  model.graph_hash = HashOfGraph(model.graph);
  model.flops = FlopsOf(model.graph, source.train.has_value());
  return absl::OkStatus();
}

absl::Status VerifyCarry(Compilation& c) {
  const Graph& graph = c.model.graph;
  CheckGraph(graph);
  for (const UpdatedState& pair : c.updated) {
    const Tensor* state = FindTensor(graph, pair.state);
    if (state == nullptr || !IsCarried(*state)) return ProofError(pair.state, " is not carried");
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
