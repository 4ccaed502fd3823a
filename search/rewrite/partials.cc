#include "search/rewrite/partials.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "opsemantics/definition/linear.h"
#include "search/plan/memory_price.h"
#include "search/plan/sharding_space.h"

namespace yuba::search {
namespace {

using DefinitionPtr = std::shared_ptr<const Definition>;

bool IsLinearReader(const Node& node) {
  return !node.definition->addends.empty() && !IsAccumulator(node);
}

// More than any plan moves: a device has at most all of a tensor to fetch, or, for each part of it
// that others make, to deliver.
double MostMoved(const Graph& graph, const Mesh& mesh) {
  double bytes = 0;
  const auto size = [&](TensorId id) {
    const TensorType& type = graph.tensors[id].type;
    return static_cast<double>(ElementCount(type)) * ByteSize(AccumulatorType(type.type));
  };
  for (const Node& node : graph.nodes) {
    for (TensorId operand : node.operands) bytes += size(operand);
    bytes += 2 * size(node.result);
  }
  return bytes * mesh.devices();
}

class KeepingApart {
 public:
  KeepingApart(const Graph& graph, const Mesh& mesh) : mesh_(mesh), result_(graph) {}

  Graph Run() {
    for (Node& node : result_.nodes) {
      const std::vector<int> addends = AddendsOf(node);
      if (addends.empty()) continue;
      const DefinitionPtr reader = Reader(node.definition, addends);
      if (IsSumOfAddends(*reader)) continue;  // an accumulator's
      node.definition = reader;
      for (int operand : addends) {
        Tensor& tensor = result_.tensors[node.operands[operand]];
        tensor.kind = TensorKind::kAddend;
        Node& maker = result_.nodes[tensor.producer];
        maker.definition = Maker(maker.definition);
      }
    }
    CheckGraph(result_);
    return std::move(result_);
  }

 private:
  bool CanStayApart(TensorId id) const {
    const Tensor& tensor = result_.tensors[id];
    if (tensor.kind != TensorKind::kActivation || tensor.output || tensor.consumers.size() != 1) {
      return false;
    }
    const Definition& made = *result_.nodes[tensor.producer].definition;
    return made.reducer == Reducer::kSum && AccumulatorType(tensor.type.type) == tensor.type.type &&
           UsesAllAxes(NodeCuts(made), mesh_) && UsesAllAxes(TensorCuts(tensor.type), mesh_);
  }

  std::vector<int> AddendsOf(const Node& node) const {
    const Definition& definition = *node.definition;
    if (IsCopy(result_, node) || !definition.addends.empty()) return {};
    std::vector<int> largest_first, chosen;
    for (size_t o = 0; o < node.operands.size(); ++o) {
      if (CanStayApart(node.operands[o])) largest_first.push_back(static_cast<int>(o));
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

  DefinitionPtr Reader(const DefinitionPtr& whole, const std::vector<int>& addends) {
    DefinitionPtr& reader = readers_[{whole.get(), addends}];
    if (reader == nullptr) {
      Definition definition = *whole;
      definition.reducer = Reducer::kSum;
      definition.indices.push_back({"group", kMostGroups, true});
      definition.addends = addends;
      reader = std::make_shared<const Definition>(std::move(definition));
      kept_.push_back(whole);
    }
    return reader;
  }

  DefinitionPtr Maker(const DefinitionPtr& whole) {
    DefinitionPtr& maker = makers_[whole.get()];
    if (maker == nullptr) {
      Definition definition = *whole;
      definition.addend = true;
      maker = std::make_shared<const Definition>(std::move(definition));
      kept_.push_back(whole);
    }
    return maker;
  }

  const Mesh& mesh_;
  Graph result_;
  std::map<std::pair<const Definition*, std::vector<int>>, DefinitionPtr> readers_;
  std::map<const Definition*, DefinitionPtr> makers_;
  std::vector<DefinitionPtr> kept_;  // whose addresses are keys
};

}  // namespace

Graph WithPartials(const Graph& graph, const Mesh& mesh) {
  return MostMoved(graph, mesh) < kNever ? KeepingApart(graph, mesh).Run() : graph;
}

bool HasPartials(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), IsLinearReader);
}

Graph WithoutPartials(const Graph& graph) {
  Graph whole = graph;
  std::map<std::pair<const Definition*, bool>, DefinitionPtr> known;
  const auto without = [&](const Node& node, bool addend) {
    DefinitionPtr& definition = known[{node.definition.get(), addend}];
    if (definition == nullptr) {
      Definition stripped = IsLinearReader(node) ? InGroups(*node.definition, 1) : *node.definition;
      stripped.addend = addend;
      definition = std::make_shared<const Definition>(std::move(stripped));
    }
    return definition;
  };
  for (const Node& node : graph.nodes) {
    if (!IsLinearReader(node)) continue;
    for (int operand : node.definition->addends) {
      whole.tensors[node.operands[operand]].kind = TensorKind::kActivation;
    }
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const bool addend = whole.tensors[node.result].kind == TensorKind::kAddend;
    const bool other = IsLinearReader(node) || addend != node.definition->addend;
    if (other) whole.nodes[n].definition = without(node, addend);
  }
  CheckGraph(whole);
  return whole;
}

std::vector<Cut> WithGroups(const Graph& graph, const Mesh& mesh, std::vector<Cut> cuts) {
  const size_t tensors = graph.tensors.size();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!IsLinearReader(node)) continue;
    cuts[tensors + n].axes.emplace_back();
    for (int operand : node.definition->addends) {
      const TensorId addend = node.operands[operand];
      const CutSpace space = TensorCuts(graph.tensors[addend].type);
      for (uint8_t axis = 0; axis < mesh.axes.size(); ++axis) {
        Cut& cut = cuts[addend];
        for (size_t d = 0; d < cut.axes.size() && WhyIllegal(space, mesh, cut) != ""; ++d) {
          Cut further = cut;
          further.axes[d].push_back(axis);
          if (WhyImpossible(space, mesh, further).empty()) cut = std::move(further);
        }
      }
    }
  }
  return cuts;
}

}  // namespace yuba::search
