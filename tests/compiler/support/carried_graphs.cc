#include "tests/compiler/support/carried_graphs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/simplify/simplify.h"

namespace yuba::compiler {
namespace {

int Below(Random& random, int count) { return static_cast<int>(random() % count); }

// Results of nodes that could be the next value of `state`, without those that are one already.
std::vector<TensorId> Candidates(const Graph& graph, TensorId state,
                                 const std::vector<CarriedPair>& pairs) {
  std::vector<TensorId> candidates;
  for (const Node& node : graph.nodes) {
    const bool taken = std::any_of(pairs.begin(), pairs.end(), [&](const CarriedPair& pair) {
      return pair.next == node.result;
    });
    if (!taken && graph.tensors[node.result].type == graph.tensors[state].type)
      candidates.push_back(node.result);
  }
  return candidates;
}

}  // namespace

CarriedModel Carried(Model before, std::vector<CarriedPair> pairs) {
  Graph& graph = before.graph;
  for (const CarriedPair& pair : pairs) {
    Tensor& state = graph.tensors[pair.state];
    if (state.kind == TensorKind::kInput) state.kind = TensorKind::kState;
    graph.inputs.erase(std::remove(graph.inputs.begin(), graph.inputs.end(), pair.state),
                       graph.inputs.end());
    if (!graph.tensors[pair.next].output) graph.outputs.push_back(pair.next);
  }
  Link(graph);
  CheckGraph(graph);
  CarriedModel carried{before, pairs, std::move(before)};
  CarryStates(carried.model, pairs);
  return carried;
}

CarriedModel RandomCarried(Random& random) {
  ModelBuilder build;
  const int64_t extent = 3 + Below(random, 5);
  std::vector<TensorId> states, matrices;
  for (int s = 1 + Below(random, 3); s > 0; --s) states.push_back(build.Input({extent, extent}));
  matrices = states;
  matrices.push_back(build.Input({extent, extent}));
  const int nodes = 2 + Below(random, 5);
  for (int n = 0; n < nodes; ++n) matrices.push_back(AddRandomNode(build, matrices, random));
  // A node of the states' type that reads two tensors, so that there always is a next value.
  const int first = Below(random, static_cast<int>(states.size()));
  matrices.push_back(build.Subtract(states[first], matrices[states.size()]));
  Model before = build.Finish({matrices.back()}, true);
  std::vector<CarriedPair> pairs;
  for (const TensorId state : states) {
    const std::vector<TensorId> candidates = Candidates(before.graph, state, pairs);
    if (candidates.empty()) continue;
    pairs.push_back({state, candidates[Below(random, static_cast<int>(candidates.size()))]});
  }
  return Carried(std::move(before), std::move(pairs));
}

std::vector<std::vector<TensorValue>> StepsByHand(const CarriedModel& carried,
                                                  std::vector<TensorValue> values, int steps) {
  std::vector<std::vector<TensorValue>> outputs;
  for (int step = 0; step < steps; ++step) {
    InterpretGraph(carried.before.graph, Arithmetic::kHash, values);
    outputs.emplace_back();
    for (const TensorId output : carried.before.graph.outputs)
      outputs.back().push_back(values[output]);
    const std::vector<TensorValue> computed = values;
    for (const CarriedPair& pair : carried.pairs) values[pair.state] = computed[pair.next];
  }
  return outputs;
}

std::vector<TensorValue> ValuesOfModel(const CarriedModel& carried,
                                       const std::vector<TensorValue>& values) {
  std::map<std::string, TensorId> of_name;
  for (size_t t = 0; t < values.size(); ++t)
    of_name[carried.before.graph.tensors[t].name] = static_cast<TensorId>(t);
  std::vector<TensorValue> result;
  for (const Tensor& tensor : carried.model.graph.tensors)
    result.push_back(values[of_name.at(tensor.name)]);
  return result;
}

bool SameElements(const std::vector<TensorValue>& a, const std::vector<TensorValue>& b) {
  if (a.size() != b.size()) return false;
  for (size_t t = 0; t < a.size(); ++t) {
    if (!(a[t].type == b[t].type)) return false;
    for (size_t i = 0; i < a[t].elements.size(); ++i) {
      if (a[t].elements[i].hash != b[t].elements[i].hash) return false;
    }
  }
  return true;
}

}  // namespace yuba::compiler
