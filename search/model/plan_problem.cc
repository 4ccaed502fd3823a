#include "search/model/plan_problem.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "search/model/memory_rows.h"
#include "search/solve/pairwise.h"

namespace yuba::search {
namespace {

using ChoiceList = std::shared_ptr<const std::vector<Choice>>;

// The plan as a problem whose variables have one value each, with its rows of memory.
class Builder {
 public:
  Builder(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

  Problem Run() {
    for (const Choice& choice : plan_.tensors) AddVariable(choice);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) AddNode(static_cast<NodeId>(n));
    AddFactors();
    problem_.pairwise.memory =
        MemoryRowsOf(graph_, plan_.mesh, problem_, std::numeric_limits<int64_t>::max());
    return std::move(problem_);
  }

 private:
  // Equal lists are shared, so that MemoryRowsOf sees where work repeats.
  void AddElement(const Choice& choice) {
    ChoiceList& list = lists_[choice.axes];
    if (list == nullptr) list = std::make_shared<const std::vector<Choice>>(1, choice);
    problem_.choices.push_back(list);
  }

  void AddVariable(const Choice& choice) {
    problem_.variable.push_back(static_cast<int>(problem_.elements.size()));
    problem_.elements.push_back(static_cast<int>(problem_.choices.size()));
    AddElement(choice);
    problem_.pairwise.variables.push_back(PlainDomain(1));
  }

  // The node of a copy has the variable of its result.
  void AddNode(NodeId n) {
    const Node& node = graph_.nodes[n];
    if (!IsCopy(graph_, node)) return AddVariable(plan_.nodes[n]);
    problem_.variable.push_back(problem_.variable[node.result]);
    AddElement(plan_.nodes[n]);
  }

  // Operands that are read again count with the first.
  void AddFactors() {
    std::map<std::pair<NodeId, int64_t>, int64_t> moved;  // by node, and use: 0 the result
    for (const Move& move : MovesOf(graph_, plan_)) {
      const std::vector<TensorId>& operands = graph_.nodes[move.node].operands;
      const auto operand = std::find(operands.begin(), operands.end(), move.tensor);
      const bool reduces = move.kind == MoveKind::kReduce;
      const int64_t use = reduces ? 0 : 1 + (operand - operands.begin());
      moved[{move.node, use}] += TimesOf(graph_, move.node) * move.bytes;
    }
    for (const Node& node : graph_.nodes) {
      problem_.factors.emplace_back(1 + node.operands.size(), -1);
    }
    const int tensors = static_cast<int>(graph_.tensors.size());
    for (const auto& [place, bytes] : moved) {
      const auto& [n, use] = place;
      const Node& node = graph_.nodes[n];
      const int tensor = problem_.variable[use == 0 ? node.result : node.operands[use - 1]];
      problem_.factors[n][use] = static_cast<int>(problem_.pairwise.factors.size());
      problem_.pairwise.factors.push_back({{tensor, problem_.variable[tensors + n]},
                                           std::make_shared<const std::vector<int64_t>>(1, bytes)});
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  std::map<std::vector<AxisList>, ChoiceList> lists_;  // by their axes
  Problem problem_;
};

}  // namespace

Plan WithoutSharing(const Graph& graph, Plan plan) {
  const auto pinned = [&](size_t element) {
    return std::any_of(
        plan.space.pins.begin(), plan.space.pins.end(),
        [&](const PinnedElement& pin) { return pin.element == static_cast<int>(element); });
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!IsCopy(graph, node)) continue;
    if (pinned(node.result) || pinned(graph.tensors.size() + n)) continue;
    plan.nodes[n] = plan.tensors[node.result] = plan.tensors[node.operands[0]];
  }
  Price(graph, plan);
  return plan;
}

int64_t PeakOfPlan(const Graph& graph, const Plan& plan) {
  const Problem problem = Builder(graph, plan).Run();
  return PeakOf(problem.pairwise, Assignment(problem.elements.size(), 0));
}

int SharedCopies(const Graph& graph, const Plan& plan) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return IsCopy(graph, node) && plan.tensors[node.result] != plan.tensors[node.operands[0]];
      }));
}

}  // namespace yuba::search
