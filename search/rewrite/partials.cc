#include "search/rewrite/partials.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "opsemantics/definition/index_names.h"
#include "opsemantics/definition/linear.h"
#include "search/plan/choice_space.h"
#include "search/plan/memory_price.h"

namespace yuba::search {
namespace {

using DefinitionPtr = std::shared_ptr<const Definition>;

bool IsLinearReader(const Node& node) {
  return !node.definition->partial_operands.empty() && !IsAccumulator(node);
}

// Bytes, at least what any plan moves. Each device gathers at most all of each operand. Of a result
// each device sends at most one partial of all of it, and receives at most one replica.
double MostMoved(const Graph& graph, const Mesh& mesh) {
  double bytes = 0;
  const auto size = [&](TensorId id) {
    const TensorType& type = graph.tensors[id].type;
    return static_cast<double>(ElementCount(type)) * ByteSize(AccumulatorType(type.type));
  };
  for (const Node& node : graph.nodes) {
    double here = 2 * size(node.result);
    for (TensorId operand : node.operands) here += size(operand);
    bytes += static_cast<double>(graph.entries[node.entry].times) * here;
  }
  return bytes * mesh.devices();
}

class KeepingUnreduced {
 public:
  KeepingUnreduced(const Graph& graph, const Mesh& mesh) : mesh_(mesh), result_(graph) {}

  Graph Run() {
    for (Node& node : result_.nodes) {
      const std::vector<int> partials = PartialsOf(node);
      if (partials.empty()) continue;
      const DefinitionPtr reader = Reader(node.definition, partials);
      if (CombinesPartials(*reader)) continue;  // it would only add: that is for accumulators
      node.definition = reader;
      for (int operand : partials) {
        Tensor& tensor = result_.tensors[node.operands[operand]];
        tensor.kind = TensorKind::kPartial;
        Node& producer = result_.nodes[tensor.producer];
        producer.definition = Producer(producer.definition);
      }
    }
    CheckGraph(result_);
    return std::move(result_);
  }

 private:
  bool CanStayUnreduced(TensorId id) const {
    const Tensor& tensor = result_.tensors[id];
    if (tensor.kind != TensorKind::kActivation || tensor.output || tensor.consumers.size() != 1) {
      return false;
    }
    const Definition& producer = *result_.nodes[tensor.producer].definition;
    return producer.reducer == Reducer::kSum &&
           AccumulatorType(tensor.type.type) == tensor.type.type &&
           UsesAllAxes(SpaceOfNode(producer), mesh_) &&
           UsesAllAxes(SpaceOfTensor(tensor.type), mesh_);
  }

  // The operands that the node can read as partials, ascending.
  std::vector<int> PartialsOf(const Node& node) const {
    const Definition& definition = *node.definition;
    if (IsCopy(result_, node) || !definition.partial_operands.empty()) return {};
    std::vector<int> largest_first, chosen;
    for (size_t o = 0; o < node.operands.size(); ++o) {
      if (CanStayUnreduced(node.operands[o])) largest_first.push_back(static_cast<int>(o));
    }
    std::stable_sort(largest_first.begin(), largest_first.end(), [&](int a, int b) {
      return ElementCount(definition.operands[a]) > ElementCount(definition.operands[b]);
    });
    if (!largest_first.empty() && IsLinearIn(definition, largest_first)) {
      chosen = largest_first;  // terms of one sum are linear together, none of them alone
    } else {
      for (int operand : largest_first) {
        chosen.push_back(operand);
        if (!IsLinearIn(definition, chosen)) chosen.pop_back();
      }
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  DefinitionPtr Reader(const DefinitionPtr& whole, const std::vector<int>& partials) {
    DefinitionPtr& reader = readers_[{whole.get(), partials}];
    if (reader == nullptr) {
      Definition definition = *whole;
      definition.reducer = Reducer::kSum;
      AddIndex(definition, "group", kMostGroups, true);
      definition.partial_operands = partials;
      reader = std::make_shared<const Definition>(std::move(definition));
      keys_alive_.push_back(whole);
    }
    return reader;
  }

  DefinitionPtr Producer(const DefinitionPtr& whole) {
    DefinitionPtr& producer = producers_[whole.get()];
    if (producer == nullptr) {
      Definition definition = *whole;
      definition.partial = true;
      producer = std::make_shared<const Definition>(std::move(definition));
      keys_alive_.push_back(whole);
    }
    return producer;
  }

  const Mesh& mesh_;
  Graph result_;
  std::map<std::pair<const Definition*, std::vector<int>>, DefinitionPtr> readers_;
  std::map<const Definition*, DefinitionPtr> producers_;
  std::vector<DefinitionPtr> keys_alive_;  // owns the definitions whose addresses are keys
};

}  // namespace

Graph WithPartials(const Graph& graph, const Mesh& mesh) {
  return MostMoved(graph, mesh) < kNever ? KeepingUnreduced(graph, mesh).Run() : graph;
}

bool MayStayUnreduced(const Graph& graph, const Mesh& mesh) {
  return HasPartials(KeepingUnreduced(graph, mesh).Run());
}

bool HasPartials(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), IsLinearReader);
}

Graph WithoutPartials(const Graph& graph) {
  Graph whole = graph;
  std::map<std::pair<const Definition*, bool>, DefinitionPtr> known;
  const auto without = [&](const Node& node, bool partials) {
    DefinitionPtr& definition = known[{node.definition.get(), partials}];
    if (definition == nullptr) {
      Definition stripped = IsLinearReader(node) ? InGroups(*node.definition, 1) : *node.definition;
      stripped.partial = partials;
      definition = std::make_shared<const Definition>(std::move(stripped));
    }
    return definition;
  };
  for (const Node& node : graph.nodes) {
    if (!IsLinearReader(node)) continue;
    for (int operand : node.definition->partial_operands) {
      whole.tensors[node.operands[operand]].kind = TensorKind::kActivation;
    }
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const bool partials = whole.tensors[node.result].kind == TensorKind::kPartial;
    const bool other = IsLinearReader(node) || partials != node.definition->partial;
    if (other) whole.nodes[n].definition = without(node, partials);
  }
  CheckGraph(whole);
  return whole;
}

Choices WithGroups(const Graph& graph, const Mesh& mesh, Choices choices) {
  const size_t tensors = graph.tensors.size();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!IsLinearReader(node)) continue;
    choices[tensors + n].axes.emplace_back();
    for (int operand : node.definition->partial_operands) {
      const TensorId partials = node.operands[operand];
      const ChoiceSpace space = SpaceOfTensor(graph.tensors[partials].type);
      for (uint8_t axis = 0; axis < mesh.axes.size(); ++axis) {
        Sharding& sharding = choices[partials];
        for (size_t d = 0; d < sharding.axes.size() && !WhyIllegal(space, mesh, sharding).empty();
             ++d) {
          Sharding further = sharding;
          further.axes[d].push_back(axis);
          if (WhyImpossible(space, mesh, further).empty()) sharding = std::move(further);
        }
      }
    }
  }
  return choices;
}

}  // namespace yuba::search
