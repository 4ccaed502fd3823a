#include "search/model/ties.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "search/rewrite/canonical.h"

namespace yuba::search {
namespace {

// Nodes are told apart by the weights that they and the nodes above them read, on paths of so many
// nodes.
constexpr int kDepth = 3;

// [node]: a number, equal for nodes of equal definitions and equal sets of such weights.
std::vector<int> NodeColours(const Graph& graph) {
  std::vector<std::set<TensorId>> weights(graph.nodes.size());
  for (int round = 0; round < kDepth; ++round) {
    std::vector<std::set<TensorId>> before = weights;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      for (TensorId operand : graph.nodes[n].operands) {
        const Tensor& tensor = graph.tensors[operand];
        if (tensor.kind == TensorKind::kParameter) weights[n].insert(operand);
        if (tensor.producer < 0) continue;
        const std::set<TensorId>& up = before[tensor.producer];
        weights[n].insert(up.begin(), up.end());
      }
    }
  }
  std::vector<int> definitions = DefinitionNumbers(graph), colours;
  std::map<std::pair<int, std::set<TensorId>>, int> known;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    int next = static_cast<int>(known.size());
    colours.push_back(
        known.emplace(std::make_pair(definitions[n], weights[n]), next).first->second);
  }
  return colours;
}

}  // namespace

std::vector<int> RepeatedVariables(const Graph& graph, const Problem& problem) {
  std::vector<int> colours = NodeColours(graph);
  const int tensors = static_cast<int>(graph.tensors.size());
  // Alike: the same colour, of a node or of a tensor's producer, and the same domain. What has no
  // producer is alike to nothing.
  std::map<std::tuple<bool, int, const void*>, int> known;
  std::vector<int> numbers;
  int count = 0;
  for (int element : problem.elements) {
    bool is_tensor = element < tensors;
    int node = is_tensor ? graph.tensors[element].producer : element - tensors;
    int colour = node < 0 ? -1 - element : colours[node];
    auto [place, is_new] =
        known.emplace(std::make_tuple(is_tensor, colour, problem.choices[element].get()), count);
    if (is_new) ++count;
    numbers.push_back(place->second);
  }
  return numbers;
}

PairwiseProblem Tied(const PairwiseProblem& problem, const std::vector<int>& numbers) {
  PairwiseProblem tied;
  for (size_t v = 0; v < numbers.size(); ++v) {
    if (numbers[v] == static_cast<int>(tied.variables.size())) {
      tied.variables.push_back(problem.variables[v]);
    }
  }
  std::map<Cells, Cells> diagonals;
  for (const Factor& factor : problem.factors) {
    Factor mapped = factor;
    for (int& v : mapped.scope) v = numbers[v];
    if (mapped.scope.size() == 2 && mapped.scope[0] == mapped.scope[1]) {
      int size = tied.variables[mapped.scope[0]]->size;
      Cells& diagonal = diagonals[factor.cells];
      if (diagonal == nullptr) {
        std::vector<int64_t> cells;
        for (int value = 0; value < size; ++value) {
          cells.push_back((*factor.cells)[int64_t{value} * size + value]);
        }
        diagonal = std::make_shared<const std::vector<int64_t>>(std::move(cells));
      }
      mapped = {{mapped.scope[0]}, diagonal};
    }
    tied.factors.push_back(std::move(mapped));
  }
  return tied;
}

}  // namespace yuba::search
