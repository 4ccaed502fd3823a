#include "compiler/spmd/short_sums.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/definition/short_sums.h"

namespace yuba::compiler {
namespace {

class Shortening {
 public:
  explicit Shortening(const Graph& graph) : given_(graph), at_(graph.nodes.size()) {
    result_.graph = graph;
    result_.like.resize(graph.tensors.size());
    std::iota(result_.like.begin(), result_.like.end(), 0);
  }

  ShortSums Run() {
    for (NodeId id = 0; id < static_cast<NodeId>(given_.nodes.size()); ++id) {
      Node node = given_.nodes[id];
      if (IsLongSum(node)) Shorten(id, &node);
      at_[id].push_back({std::move(node), id});
    }
    result_.graph.nodes.clear();
    for (std::vector<Placed>& placed : at_) {
      for (Placed& one : placed) {
        result_.graph.nodes.push_back(std::move(one.node));
        result_.of.push_back(one.of);
      }
    }
    Link(result_.graph);
    CheckGraph(result_.graph);
    return std::move(result_);
  }

 private:
  struct Placed {
    Node node;
    NodeId of;
  };

  void Shorten(NodeId id, Node* sum) {
    const std::vector<std::vector<TensorId>> groups = TermsInGroups(given_, *sum);
    const TensorType type = sum->definition->operands[0];
    std::vector<TensorId> terms;
    for (size_t g = 0; g < groups.size(); ++g) {
      terms.insert(terms.end(), groups[g].begin(), groups[g].end());
      if (g + 1 == groups.size()) break;
      Node node = *sum;
      node.name = absl::StrCat("part(", sum->name, ", ", g + 1, ")");
      node.operands = terms;
      node.definition = SumOf(type, terms.size(), true);
      node.result = AddPart(node.name, terms[0]);
      terms = {node.result};
      at_[given_.tensors[groups[g].back()].producer].push_back({std::move(node), id});
    }
    sum->operands = terms;
    sum->definition = SumOf(type, terms.size(), false);
  }

  TensorId AddPart(const std::string& name, TensorId like) {
    std::vector<Tensor>& tensors = result_.graph.tensors;
    Tensor part = tensors[like];
    part.name = name;
    tensors.push_back(std::move(part));
    result_.like.push_back(result_.like[like]);
    return static_cast<TensorId>(tensors.size()) - 1;
  }

  std::shared_ptr<const Definition> SumOf(const TensorType& type, size_t terms, bool partial) {
    Definition sum = AccumulatorOf(type, static_cast<int>(terms));
    sum.partial = partial;
    for (const auto& known : sums_) {
      if (*known == sum) return known;
    }
    sums_.push_back(std::make_shared<const Definition>(std::move(sum)));
    return sums_.back();
  }

  const Graph& given_;
  std::vector<std::vector<Placed>> at_;  // [node of given_]: it and the parts behind it
  ShortSums result_;
  std::vector<std::shared_ptr<const Definition>> sums_;
};

}  // namespace

absl::optional<ShortSums> WithShortSums(const Graph& graph) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), IsLongSum)) return absl::nullopt;
  return Shortening(graph).Run();
}

}  // namespace yuba::compiler
