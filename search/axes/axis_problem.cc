#include "search/axes/axis_problem.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "opsemantics/regions/along.h"
#include "search/model/countable.h"
#include "search/rewrite/canonical.h"
#include "search/space/cluster.h"
#include "search/space/follow.h"

namespace yuba::search {
namespace {

void AddEdge(AxisEdge edge, AxisProblem* problem) {
  const int number = static_cast<int>(problem->edges.size());
  problem->variables[edge.tensor].edges.push_back(number);
  if (edge.node != edge.tensor) problem->variables[edge.node].edges.push_back(number);
  problem->edges.push_back(edge);
}

// Numbers the kinds: first, variables are of one kind where their extents and pins are equal and
// they stand at equal ends of equal edges, in the order of the graph.
void NumberKinds(AxisProblem* problem) {
  std::map<std::vector<int64_t>, int> kinds;
  std::map<std::string, int64_t> restrictions;
  for (size_t v = 0; v < problem->variables.size(); ++v) {
    AxisVariable& variable = problem->variables[v];
    std::vector<int64_t> key = variable.space.extents;
    key.push_back(variable.space.optional);
    const auto number = static_cast<int64_t>(restrictions.size());
    key.push_back(restrictions.emplace(Key(variable.restriction), number).first->second);
    for (int e : variable.edges) {
      const AxisEdge& edge = problem->edges[e];
      const bool at_tensor = edge.tensor == static_cast<int>(v);
      const bool at_node = edge.node == static_cast<int>(v);
      key.insert(key.end(),
                 {edge.kind, at_tensor ? edge.tensor_dims : -1, at_node ? edge.node_dims : -1});
    }
    variable.kind = kinds.emplace(std::move(key), static_cast<int>(kinds.size())).first->second;
  }
  // Then those kinds are split by the kinds of the variables at the other ends.
  kinds.clear();
  std::vector<int> refined;
  for (const AxisVariable& variable : problem->variables) {
    std::vector<int64_t> key = {variable.kind};
    for (int e : variable.edges) {
      const AxisEdge& edge = problem->edges[e];
      key.insert(key.end(),
                 {problem->variables[edge.tensor].kind, problem->variables[edge.node].kind});
    }
    refined.push_back(kinds.emplace(std::move(key), static_cast<int>(kinds.size())).first->second);
  }
  for (size_t v = 0; v < refined.size(); ++v) problem->variables[v].kind = refined[v];
}

}  // namespace

AxisProblem MakeAxisProblem(const Graph& graph, const std::vector<TensorUse>& uses,
                            const std::vector<std::vector<Grid>>& grids, ChoiceStore* store,
                            bool replicate, const Restrictions& restrictions) {
  AxisProblem problem;
  const int tensors = static_cast<int>(graph.tensors.size());
  const size_t elements = graph.tensors.size() + graph.nodes.size();
  std::vector<bool> alone(elements, replicate);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (IsCopy(graph, graph.nodes[n])) alone[tensors + n] = false;
  }
  for (size_t e = 0; e < restrictions.size(); ++e) {
    if (!restrictions[e].none()) alone[e] = true;
  }
  Clusters clusters = MakeClusters(graph, alone);
  std::vector<std::pair<int, int>> places;
  for (int e = 0; e < static_cast<int>(elements); ++e) {
    if (clusters.representative[e] == e) places.push_back({ProgramPosition(graph, e), e});
  }
  std::sort(places.begin(), places.end());
  problem.variable.assign(elements, -1);
  for (const auto& place : places) {
    const int e = place.second;
    problem.variable[e] = static_cast<int>(problem.variables.size());
    problem.elements.push_back(e);
    AxisVariable variable;
    variable.space = SpaceOf(graph, e);
    variable.space.optional = variable.space.optional || (replicate && e < tensors);
    variable.computed = e >= tensors || graph.tensors[e].producer >= 0;
    if (!restrictions.empty()) variable.restriction = restrictions[e];
    variable.grids = grids[e];
    problem.variables.push_back(std::move(variable));
  }
  for (size_t e = 0; e < elements; ++e) {
    problem.variable[e] = problem.variable[clusters.representative[e]];
    problem.dims.push_back(store->NumberOfDims(clusters.dims[e]));
  }
  int kinds = 0;
  for (const TensorUse& use : uses) kinds = std::max(kinds, use.kind + 1);
  store->SetKinds(kinds, MostOfUse(graph));
  std::map<int, int> along;  // by kind of use
  std::vector<int> next_operand(graph.nodes.size(), -1);
  for (const TensorUse& use : uses) {
    const int n = use.node - tensors, operand = next_operand[n]++;
    auto [place, is_new] = along.emplace(use.kind, 0);
    if (is_new) {
      place->second = store->NumberOfDims(DimsAlong(*graph.nodes[n].definition, operand));
    }
    AddEdge({use.costs.get(), use.kernels.get(), use.kind, problem.variable[use.tensor],
             problem.variable[use.node], problem.dims[use.tensor], problem.dims[use.node],
             place->second, 1},
            &problem);
  }
  NumberKinds(&problem);
  return problem;
}

Choices ChoicesOfElements(const AxisProblem& problem, const std::vector<int>& choices,
                          ChoiceStore* store) {
  Choices all;
  for (size_t e = 0; e < problem.variable.size(); ++e) {
    all.push_back(store->at(store->Mapped(choices[problem.variable[e]], problem.dims[e])));
  }
  return all;
}

std::vector<int> KindsOf(const AxisProblem& problem) {
  std::vector<int> numbers;
  std::map<int, int> first;  // by kind
  for (const AxisVariable& variable : problem.variables) {
    const auto next = static_cast<int>(first.size());
    numbers.push_back(first.emplace(variable.kind, next).first->second);
  }
  return numbers;
}

AxisProblem Tied(const AxisProblem& problem, const std::vector<int>& numbers) {
  AxisProblem tied;
  for (size_t v = 0; v < numbers.size(); ++v) {
    if (numbers[v] < static_cast<int>(tied.variables.size())) continue;
    tied.variables.push_back(problem.variables[v]);
    tied.variables.back().edges.clear();
    tied.variables.back().kind = numbers[v];  // none has the edges of another
  }
  std::map<std::tuple<int, int, int, int, int>, int> known;
  for (AxisEdge edge : problem.edges) {
    edge.tensor = numbers[edge.tensor];
    edge.node = numbers[edge.node];
    auto [place, is_new] = known.emplace(
        std::make_tuple(edge.kind, edge.tensor, edge.node, edge.tensor_dims, edge.node_dims),
        static_cast<int>(tied.edges.size()));
    if (is_new)
      AddEdge(edge, &tied);
    else
      ++tied.edges[place->second].count;
  }
  for (int v : problem.variable) tied.variable.push_back(numbers[v]);
  tied.dims = problem.dims;
  return tied;
}

}  // namespace yuba::search
