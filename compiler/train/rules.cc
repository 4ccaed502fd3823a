#include "compiler/train/rules.h"

#include <queue>
#include <utility>

#include "opsemantics/base/check.h"

namespace yuba::compiler {
namespace {

// [node]: whether the tensors need it. Nodes before `barred` tensors are not looked at.
std::vector<bool> Needed(const Graph& graph, const std::vector<TensorId>& tensors,
                         const std::vector<TensorId>& barred) {
  std::vector<bool> stop(graph.tensors.size(), false);
  for (const TensorId tensor : barred) stop[tensor] = true;
  std::vector<bool> wanted(graph.tensors.size(), false), needed(graph.nodes.size(), false);
  for (const TensorId tensor : tensors) wanted[tensor] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const Node& node = graph.nodes[id];
    if (!wanted[node.result] || stop[node.result]) continue;
    needed[id] = true;
    for (const TensorId operand : node.operands) wanted[operand] = true;
  }
  return needed;
}

UseRule WithTensors(const GradientRule& rule, const Graph& graph) {
  UseRule result;
  for (const GradientRule::Pair& pair : rule.outputs)
    result.outputs.push_back({graph.outputs[pair.of], graph.inputs[pair.gradient]});
  for (const GradientRule::Pair& pair : rule.operands) {
    result.operands.push_back(
        {graph.outputs[pair.of], pair.gradient < 0 ? -1 : graph.outputs[pair.gradient]});
  }
  return result;
}

std::vector<TensorId> Members(const std::vector<UseRule::Pair>& pairs,
                              TensorId UseRule::Pair::* member) {
  std::vector<TensorId> tensors;
  for (const UseRule::Pair& pair : pairs) {
    if (pair.*member >= 0) tensors.push_back(pair.*member);
  }
  return tensors;
}

// Moves the nodes that only gradients of operands need from the graph to their rules.
void MoveNodes(Graph& graph, std::vector<UseRule>& rules) {
  std::vector<TensorId> gradients, others;
  std::vector<bool> is_gradient(graph.tensors.size(), false);
  for (const UseRule& rule : rules) {
    for (const TensorId tensor : Members(rule.operands, &UseRule::Pair::gradient))
      is_gradient[tensor] = true;
  }
  for (const TensorId output : graph.outputs) {
    if (!is_gradient[output]) others.push_back(output);
  }
  const std::vector<bool> forward = Needed(graph, others, {});
  std::vector<bool> moved(graph.nodes.size(), false);
  for (UseRule& rule : rules) {
    const std::vector<bool> backward =
        Needed(graph, Members(rule.operands, &UseRule::Pair::gradient),
               Members(rule.operands, &UseRule::Pair::of));
    for (size_t id = 0; id < graph.nodes.size(); ++id) {
      if (!backward[id] || forward[id] || moved[id]) continue;
      rule.nodes.push_back(graph.nodes[id]);
      moved[id] = true;
    }
  }
  std::vector<Node> nodes;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!moved[id]) nodes.push_back(std::move(graph.nodes[id]));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace

std::vector<UseRule> TakeGradientRules(Model& model) {
  std::vector<UseRule> rules;
  if (model.gradient_rules.empty()) return rules;
  Graph& graph = model.graph;
  for (const GradientRule& rule : model.gradient_rules) rules.push_back(WithTensors(rule, graph));
  MoveNodes(graph, rules);
  graph.inputs.resize(model.gradient_rules[0].first_input);
  graph.outputs.resize(model.gradient_rules[0].first_output);
  model.gradient_rules.clear();
  Link(graph);
  for (UseRule& rule : rules) {
    const std::vector<bool> group = Needed(graph, Members(rule.outputs, &UseRule::Pair::of),
                                           Members(rule.operands, &UseRule::Pair::of));
    for (size_t id = 0; id < group.size(); ++id) {
      if (group[id]) rule.group.push_back(static_cast<NodeId>(id));
    }
  }
  return rules;
}

std::vector<std::vector<NodeId>> BackwardSteps(const Graph& graph,
                                               const std::vector<UseRule>& rules) {
  std::vector<std::vector<NodeId>> steps;
  std::vector<int> step_of(graph.nodes.size(), -1);
  for (const UseRule& rule : rules) {
    for (const NodeId id : rule.group) {
      YUBA_CHECK(step_of[id] < 0) << graph.nodes[id].name << " is in two groups";
      step_of[id] = static_cast<int>(steps.size());
    }
    steps.push_back(rule.group);
  }
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    if (step_of[id] >= 0) continue;
    step_of[id] = static_cast<int>(steps.size());
    steps.push_back({id});
  }
  // How often later steps read what the step computes.
  std::vector<int> readers(steps.size(), 0);
  const auto for_each_source = [&](int step, const auto& visit) {
    for (const NodeId id : steps[step]) {
      for (const TensorId operand : graph.nodes[id].operands) {
        const NodeId producer = graph.tensors[operand].producer;
        if (producer >= 0 && step_of[producer] != step) visit(step_of[producer]);
      }
    }
  };
  for (size_t s = 0; s < steps.size(); ++s)
    for_each_source(static_cast<int>(s), [&](int source) { ++readers[source]; });
  std::priority_queue<std::pair<NodeId, int>> ready;  // the last node of a step, and the step
  const auto add_ready = [&](int step) {
    if (readers[step] == 0 && !steps[step].empty()) ready.push({steps[step].back(), step});
  };
  for (size_t s = 0; s < steps.size(); ++s) add_ready(static_cast<int>(s));
  std::vector<std::vector<NodeId>> order;
  while (!ready.empty()) {
    const int step = ready.top().second;
    ready.pop();
    order.push_back(steps[step]);
    for_each_source(step, [&](int source) {
      --readers[source];
      add_ready(source);
    });
  }
  return order;
}

}  // namespace yuba::compiler
