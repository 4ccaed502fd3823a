#include "compiler/import/onnx.h"

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/import/factors/build.h"
#include "compiler/import/random_numbers.h"
#include "compiler/import/source.h"
#include "compiler/simplify/invariants.h"
#include "compiler/simplify/simplify.h"
#include "compiler/train/train.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/regions/structure.h"

namespace yuba::onnx {
namespace {

// Of all entries, each as often as it runs; of training what one step needs. In training the last
// entry is the step, and evaluation is no part of it.
int64_t FlopsOf(const Graph& graph, bool trains) {
  int64_t sum = 0;
  for (const Node& node : graph.nodes) {
    const Entry& entry = graph.entries[node.entry];
    if (trains && entry.name == kEvalEntry) continue;
    const int64_t times = trains ? entry.times / graph.entries.back().times : entry.times;
    int64_t flops = Flops(*node.definition, WholeRanges(*node.definition));
    if (__builtin_mul_overflow(flops, times, &flops) || __builtin_add_overflow(sum, flops, &sum))
      return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

// The pairs of source.carried in the model's graph, which is not carried yet.
absl::StatusOr<std::vector<compiler::CarriedPair>> CarriedPairs(const OnnxGraph& source,
                                                                const Graph& graph) {
  std::map<std::string, TensorId> stored;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (IsStored(tensor.kind)) stored[tensor.name] = static_cast<TensorId>(t);
  }
  std::vector<compiler::CarriedPair> pairs;
  for (const auto& [state, next, next_name] : source.carried) {
    const auto read = stored.find(source.values[state].name);
    if (read == stored.end()) {
      return UserError("--state ", next_name, "=", source.values[state].name,
                       ": no output needs the state, so there is nothing to carry; leave it out");
    }
    const auto output = std::find(source.outputs.begin(), source.outputs.end(), next);
    pairs.push_back({read->second, graph.outputs[output - source.outputs.begin()], next_name});
  }
  return pairs;
}

// Adds the pairs of a training step.
void AddUpdated(const std::vector<compiler::UpdatedState>& updated, const Graph& graph,
                std::vector<compiler::CarriedPair>& pairs) {
  std::map<std::string, TensorId> named;
  for (size_t t = 0; t < graph.tensors.size(); ++t)
    named[graph.tensors[t].name] = static_cast<TensorId>(t);
  for (const compiler::UpdatedState& pair : updated)
    pairs.push_back({named.at(pair.state), named.at(pair.next), pair.next});
}

// What the entries add to caches, in the model's graph.
std::vector<compiler::CachedRows> CachedRowsOf(const OnnxGraph& source, const Graph& graph) {
  std::vector<compiler::CachedRows> rows;
  for (const OnnxGraph::Rows& added : source.rows) {
    const auto output = std::find(source.outputs.begin(), source.outputs.end(), added.present);
    const auto count = std::find_if(
        graph.tensors.begin(), graph.tensors.end(),
        [&](const Tensor& t) { return t.name == source.values[source.rows_used].name; });
    YUBA_CHECK(output != source.outputs.end() && count != graph.tensors.end());
    rows.push_back({graph.outputs[output - source.outputs.begin()], added.axis,
                    static_cast<TensorId>(count - graph.tensors.begin()), added.new_rows,
                    source.values[added.present].dims[added.axis], added.entry});
  }
  return rows;
}

// What the file says of stored values, for who chooses what is trained.
compiler::StoredWords WordsOf(const OnnxGraph& source) {
  using Word = StoredRole::Word;
  compiler::StoredWords words;
  for (const OnnxValue& value : source.values) {
    if (value.role.word == Word::kParameter) words.parameters.insert(value.name);
    if (value.role.word == Word::kBuffer) words.kept[value.name] = "a buffer";
    if (value.role.word == Word::kOther) words.kept[value.name] = "no parameter in PyTorch";
    if (value.role.word == Word::kNone && value.role.first_state)
      words.first_states.insert(value.name);
    if (value.statistics) words.kept[value.name] = "running statistics";
  }
  for (const OnnxGraph::CarriedValues& pair : source.carried)
    words.states.insert(source.values[pair.state].name);
  return words;
}

// Stored numbers of floats that are literals, and that the file says nothing of.
std::vector<std::string> LiteralsOf(const OnnxGraph& source) {
  std::vector<std::string> numbers;
  for (const OnnxValue& value : source.values) {
    const bool number = value.stored && value.kind == TensorKind::kConstant && IsFloat(value.type);
    if (number && value.role.word == StoredRole::Word::kNone) numbers.push_back(value.name);
  }
  return numbers;
}

// The user's error where a number of the file has a name that training adds: both are in
// checkpoints.
absl::Status CheckNumbers(const OnnxGraph& source,
                          const std::vector<compiler::UpdatedState>& updated) {
  for (const OnnxValue& value : source.values) {
    if (!value.stored || value.kind != TensorKind::kConstant) continue;
    const bool added = std::any_of(updated.begin(), updated.end(),
                                   [&](const auto& pair) { return pair.state == value.name; });
    if (added) {
      return UserError("the model has a number '", value.name, "', which is the name of what the ",
                       "optimizer adds: rename the tensor");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<compiler::Model> ModelOf(std::shared_ptr<const Source> source, bool factors) {
  compiler::Model model;
  model.file = source->path;
  model.file_inputs = source->file_inputs;
  model.missing_parameters = source->missing_parameters;
  model.file_outputs = source->file_outputs;
  model.file_nodes = source->nodes;
  model.opset = source->opset;
  model.notes = source->graph.notes;
  BuildGraph(source->graph, UnifyFactors(source->graph, factors), model);
  const auto gradients =
      source->train.has_value() ? compiler::Gradients::kToCome : compiler::Gradients::kNone;
  compiler::ReplaceLiterals(model);
  compiler::RemoveViews(model, gradients);
  const std::vector<compiler::CachedRows> caches = CachedRowsOf(source->graph, model.graph);
  for (const compiler::CachedRows& cache : caches) {
    model.graph.tensors[cache.count].cache_rows = cache.length;
  }
  YUBA_RETURN_IF_ERROR(compiler::HideUnusedRows(model, caches));
  compiler::ComposeMaps(model, gradients);
  compiler::PutInCanonicalOrder(model);
  for (const OnnxValue& value : source->graph.values) {
    if (value.role.form.has_value()) model.forms[value.name] = *value.role.form;
  }
  model.words = WordsOf(source->graph);
  model.ties = source->graph.ties;
  std::vector<compiler::UpdatedState> updated;
  if (source->train.has_value()) {
    compiler::TrainRecipe recipe = *source->train;
    recipe.numbers = LiteralsOf(source->graph);
    YUBA_ASSIGN_OR_RETURN(updated, compiler::MakeTrainingStep(model, recipe));
    YUBA_RETURN_IF_ERROR(CheckNumbers(source->graph, updated));
    compiler::ReplaceLiterals(model);
    compiler::RemoveViews(model);
    compiler::ComposeMaps(model);
    compiler::RecomputeMaps(model);
    compiler::PutInCanonicalOrder(model);
  }
  YUBA_ASSIGN_OR_RETURN(auto carried, CarriedPairs(source->graph, model.graph));
  AddUpdated(updated, model.graph, carried);
  compiler::CarryStates(model, carried);
  compiler::KnowConditions(model);
  YUBA_RETURN_IF_ERROR(compiler::CheckKnownIndices(model));
  if (source->graph.step >= 0) CountSteps(model.graph);
  if (source->init) compiler::MoveInvariantsToInit(model);
  model.graph_hash = compiler::HashOfGraph(model.graph);
  model.flops = FlopsOf(model.graph, source->train.has_value());
  model.source = std::move(source);
  return model;
}

}  // namespace

absl::StatusOr<compiler::Model> ImportOnnx(const std::string& path, const ImportOptions& options) {
  YUBA_CHECK(options.library != nullptr);
  YUBA_ASSIGN_OR_RETURN(std::shared_ptr<const Source> source, ReadSource(path, options));
  return ModelOf(std::move(source), options.factors);
}

absl::StatusOr<compiler::Model> WithFactors(const compiler::Model& model, bool factors) {
  if (model.source == nullptr) {
    return absl::FailedPreconditionError("the model was not read from its file by this process");
  }
  return ModelOf(model.source, factors);
}

}  // namespace yuba::onnx
