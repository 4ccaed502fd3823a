#include "compiler/order/steps.h"

#include <algorithm>
#include <array>

#include "compiler/order/live_bytes.h"

namespace yuba::compiler {
namespace {

void Distinct(std::vector<int>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool Has(const std::vector<int>& list, int element) {
  return std::binary_search(list.begin(), list.end(), element);
}

// Steps of one node each, numbered as in `order`; lists of what comes after are still empty.
std::vector<Step> SingleSteps(const Graph& graph, const std::vector<Precedence>& precedences,
                              const std::vector<NodeId>& order) {
  std::vector<int> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  std::vector<Step> steps(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const Node& node = graph.nodes[order[i]];
    Step& step = steps[i];
    step.nodes = {order[i]};
    step.extra = LiveBytes(graph, node.result);
    step.bytes = graph.tensors[node.result].consumers.empty() ? 0 : step.extra;
    for (const TensorId operand : node.operands) {
      const NodeId producer = ProducerFor(graph, operand, order[i]);
      if (producer >= 0) step.reads.push_back(place[producer]);
    }
    Distinct(step.reads);
    step.before = step.reads;
  }
  for (const Precedence& edge : precedences) {
    steps[place[edge.after]].before.push_back(place[edge.before]);
  }
  for (Step& step : steps) Distinct(step.before);
  return steps;
}

// Puts steps together by the two rules of steps.h.
class Merger {
 public:
  explicit Merger(std::vector<Step> steps) : steps_(std::move(steps)), owner_(steps_.size()) {
    followers_.resize(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      owner_[i] = static_cast<int>(i);
      for (const int b : steps_[i].before) ++followers_[b];
    }
  }

  std::vector<Step> Run() && {
    for (size_t i = 0; i < steps_.size(); ++i) {
      Step& step = steps_[i];
      for (std::vector<int>* list : {&step.reads, &step.before}) {
        for (int& s : *list) s = Owner(s);
        Distinct(*list);
      }
      TakeSources(static_cast<int>(i));
      FollowProducer(static_cast<int>(i));
    }
    return Numbered();
  }

 private:
  int Owner(int step) const {
    while (owner_[step] != step) step = owner_[step];
    return step;
  }

  // The first rule, for the reader i.
  void TakeSources(int i) {
    Step& step = steps_[i];
    const int64_t alone = step.extra;
    std::vector<NodeId> nodes;
    std::vector<int> before;
    for (const int s : step.before) {
      const Step& source = steps_[s];
      const bool moves = source.before.empty() && followers_[s] == 1 && Has(step.reads, s) &&
                         source.extra <= source.bytes + alone;
      if (!moves) {
        before.push_back(s);
        continue;
      }
      nodes.insert(nodes.end(), source.nodes.begin(), source.nodes.end());
      step.extra += source.bytes;
      step.reads.erase(std::find(step.reads.begin(), step.reads.end(), s));
      owner_[s] = i;
    }
    step.before = std::move(before);
    step.nodes.insert(step.nodes.begin(), nodes.begin(), nodes.end());
  }

  // The second rule, for the reader i.
  void FollowProducer(int i) {
    Step& step = steps_[i];
    if (step.before.size() != 1 || step.reads != step.before) return;
    Step& producer = steps_[step.before[0]];
    const bool moves = followers_[step.before[0]] == 1 && step.bytes <= producer.bytes &&
                       producer.bytes + step.extra <= producer.extra;
    if (!moves) return;
    producer.nodes.insert(producer.nodes.end(), step.nodes.begin(), step.nodes.end());
    producer.bytes = step.bytes;
    followers_[step.before[0]] = followers_[i];
    owner_[i] = step.before[0];
  }

  // The steps that are left, as steps.h numbers them.
  std::vector<Step> Numbered() {
    std::vector<int> left;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (owner_[i] == static_cast<int>(i)) left.push_back(static_cast<int>(i));
    }
    std::vector<int> number = Numbers(left);
    std::vector<Step> linked = Linked(left, number);
    std::vector<std::array<int, 3>> places;  // anchor, side of it, number
    for (size_t i = 0; i < linked.size(); ++i) {
      const Step& step = linked[i];
      const int own = static_cast<int>(i);
      if (IsSource(step)) {
        places.push_back({step.after.front(), 0, own});
      } else if (IsFreeSink(linked, step)) {
        places.push_back({step.before.empty() ? own : step.before.back(), 2, own});
      } else {
        places.push_back({own, 1, own});
      }
    }
    std::sort(places.begin(), places.end());
    for (std::array<int, 3>& place : places) place[2] = left[place[2]];
    for (size_t i = 0; i < left.size(); ++i) left[i] = places[i][2];
    number = Numbers(left);
    return Linked(left, number);
  }

  // [step]: where it is in `left`.
  std::vector<int> Numbers(const std::vector<int>& left) const {
    std::vector<int> number(steps_.size(), -1);
    for (size_t i = 0; i < left.size(); ++i) number[left[i]] = static_cast<int>(i);
    return number;
  }

  // Copies of the steps `left`, with these numbers and all lists.
  std::vector<Step> Linked(const std::vector<int>& left, const std::vector<int>& number) const {
    std::vector<Step> result;
    for (const int s : left) result.push_back(steps_[s]);
    for (size_t i = 0; i < result.size(); ++i) {
      for (std::vector<int>* list : {&result[i].reads, &result[i].before}) {
        for (int& s : *list) s = number[Owner(s)];
        Distinct(*list);
      }
      for (const int s : result[i].reads) result[s].readers.push_back(static_cast<int>(i));
      for (const int s : result[i].before) result[s].after.push_back(static_cast<int>(i));
    }
    return result;
  }

  std::vector<Step> steps_;
  std::vector<int> owner_;      // [step]: the one that it has become part of, or itself
  std::vector<int> followers_;  // [step]: how many must run after it
};

}  // namespace

bool IsSource(const Step& step) {
  return step.before.empty() && !step.after.empty() && step.extra == step.bytes;
}

bool IsFreeSink(const std::vector<Step>& steps, const Step& step) {
  return step.after.empty() && step.extra == 0 &&
         std::none_of(step.before.begin(), step.before.end(),
                      [&](int s) { return IsSource(steps[s]); });
}

std::vector<Step> StepsOf(const Graph& graph, const std::vector<Precedence>& precedences,
                          const std::vector<NodeId>& depth_first) {
  return Merger(SingleSteps(graph, precedences, depth_first)).Run();
}

}  // namespace yuba::compiler
