#include "compiler/import/onnx.h"

#include <algorithm>
#include <map>

#include "compiler/import/factors/build.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

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

}  // namespace

compiler::Model ModelOf(std::shared_ptr<const Source> source, bool factors) {
  compiler::Model model;
  model.file = source->path;
  model.file_inputs = source->file_inputs;
  model.missing_parameters = source->missing_parameters;
  model.file_outputs = source->file_outputs;
  model.file_nodes = source->nodes;
  model.opset = source->opset;
  model.notes = source->graph.notes;
  for (const OnnxValue& value : source->graph.values) {
    if (value.role.form.has_value()) model.forms[value.name] = *value.role.form;
  }
  model.words = WordsOf(source->graph);
  model.ties = source->graph.ties;
  BuildGraph(source->graph, UnifyFactors(source->graph, factors), model);
  model.source = std::move(source);
  return model;
}

std::vector<compiler::CachedRows> CachedRowsOf(const compiler::Model& model) {
  const OnnxGraph& source = model.source->graph;
  const Graph& graph = model.graph;
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

absl::Status CheckNumbers(const Source& source,
                          const std::vector<compiler::UpdatedState>& updated) {
  for (const OnnxValue& value : source.graph.values) {
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

absl::StatusOr<std::vector<compiler::CarriedPair>> CarriedPairsOf(
    const compiler::Model& model, const std::vector<compiler::UpdatedState>& updated) {
  const OnnxGraph& source = model.source->graph;
  const Graph& graph = model.graph;
  std::map<std::string, TensorId> named;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    named[graph.tensors[t].name] = static_cast<TensorId>(t);
  }
  std::vector<compiler::CarriedPair> pairs;
  for (const auto& [state, next, next_name] : source.carried) {
    const auto read = named.find(source.values[state].name);
    if (read == named.end() || !IsStored(graph.tensors[read->second].kind)) {
      return UserError("--state ", next_name, "=", source.values[state].name,
                       ": no output needs the state, so there is nothing to carry; leave it out");
    }
    const auto output = std::find(source.outputs.begin(), source.outputs.end(), next);
    pairs.push_back({read->second, graph.outputs[output - source.outputs.begin()], next_name});
  }
  for (const compiler::UpdatedState& pair : updated) {
    pairs.push_back({named.at(pair.state), named.at(pair.next), pair.next});
  }
  return pairs;
}

}  // namespace yuba::onnx
