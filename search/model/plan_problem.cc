#include "search/model/plan_problem.h"

#include <algorithm>
#include <array>
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

class Builder {
 public:
  Builder(const Graph& graph, const Plan& plain, const Plan& shared)
      : graph_(graph), plain_(plain), shared_(shared) {}

  Problem Run() {
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      AddVariable(plain_.tensors[t], shared_.tensors[t]);
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) AddNode(static_cast<NodeId>(n));
    AddMoves(plain_, 0);
    AddMoves(shared_, 1);
    AddFactors();
    problem_.pairwise.memory =
        MemoryRowsOf(graph_, plain_.mesh, problem_, std::numeric_limits<int64_t>::max());
    return std::move(problem_);
  }

 private:
  // What a use moves in a step, [0] in the one plan and [1] in the other.
  using Bytes = std::array<int64_t, 2>;

  // Equal lists are shared, so that MemoryRowsOf sees where work repeats.
  void AddElement(const Choice& plain, const Choice& shared) {
    std::vector<Choice> choices = {plain};
    if (shared != plain) choices.push_back(shared);
    std::vector<std::vector<AxisList>> key;
    for (const Choice& choice : choices) key.push_back(choice.axes);
    ChoiceList& list = lists_[key];
    if (list == nullptr) list = std::make_shared<const std::vector<Choice>>(std::move(choices));
    problem_.choices.push_back(list);
  }

  void AddVariable(const Choice& plain, const Choice& shared) {
    problem_.variable.push_back(static_cast<int>(problem_.elements.size()));
    problem_.elements.push_back(static_cast<int>(problem_.choices.size()));
    AddElement(plain, shared);
    problem_.pairwise.variables.push_back(
        PlainDomain(static_cast<int>(problem_.choices.back()->size())));
  }

  // The node of a copy has the variable of its result.
  void AddNode(NodeId n) {
    const Node& node = graph_.nodes[n];
    if (!IsCopy(graph_, node)) return AddVariable(plain_.nodes[n], shared_.nodes[n]);
    problem_.variable.push_back(problem_.variable[node.result]);
    AddElement(plain_.nodes[n], shared_.nodes[n]);
  }

  // Operands that are read again count with the first.
  void AddMoves(const Plan& plan, int value) {
    for (const Move& move : MovesOf(graph_, plan)) {
      const std::vector<TensorId>& operands = graph_.nodes[move.node].operands;
      const auto operand = std::find(operands.begin(), operands.end(), move.tensor);
      const bool reduces = move.kind == MoveKind::kReduce;
      const int64_t use = reduces ? 0 : 1 + (operand - operands.begin());
      moved_[{move.node, use}][value] += TimesOf(graph_, move.node) * move.bytes;
    }
  }

  void AddFactors() {
    for (const Node& node : graph_.nodes) {
      problem_.factors.emplace_back(1 + node.operands.size(), -1);
    }
    const int tensors = static_cast<int>(graph_.tensors.size());
    for (const auto& [place, bytes] : moved_) {
      const auto& [n, use] = place;
      const Node& node = graph_.nodes[n];
      const int tensor = problem_.variable[use == 0 ? node.result : node.operands[use - 1]];
      const int reader = problem_.variable[tensors + n];
      // At most one of the two has two values.
      const bool differs = problem_.pairwise.variables[tensor]->size > 1 ||
                           problem_.pairwise.variables[reader]->size > 1;
      std::vector<int64_t> cells(bytes.begin(), bytes.begin() + (differs ? 2 : 1));
      problem_.factors[n][use] = static_cast<int>(problem_.pairwise.factors.size());
      problem_.pairwise.factors.push_back(
          {{tensor, reader}, std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    }
  }

  const Graph& graph_;
  const Plan& plain_;
  const Plan& shared_;
  std::map<std::vector<std::vector<AxisList>>, ChoiceList> lists_;  // by their axes
  std::map<std::pair<NodeId, int64_t>, Bytes> moved_;  // by node, and use: 0 the result
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

Problem ProblemOfCopies(const Graph& graph, const Plan& plain, const Plan& shared) {
  return Builder(graph, plain, shared).Run();
}

int64_t PeakOfPlan(const Graph& graph, const Plan& plan) {
  const Problem problem = ProblemOfCopies(graph, plan, plan);
  return PeakOf(problem.pairwise, Assignment(problem.elements.size(), 0));
}

}  // namespace yuba::search
