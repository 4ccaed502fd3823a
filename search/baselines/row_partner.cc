#include "search/baselines/row_partner.h"

#include <map>
#include <set>

#include "opsemantics/regions/along.h"

namespace yuba::search {
namespace {

// Follows one product's columns forward, node by node in the order of the graph.
class Follower {
 public:
  Follower(const Graph& graph, const std::vector<absl::optional<WeightProduct>>& products)
      : graph_(graph), products_(products) {}

  // Whether columns along these of the product's own indices meet it.
  bool MeetsRow(NodeId column, const std::vector<int>& outputs) {
    const Node& node = graph_.nodes[column];
    std::vector<bool> indices(node.definition->indices.size(), false);
    for (const int index : outputs) {
      indices[index] = node.definition->indices[index].extent > 1;
    }
    Reach(column, MarkedDims(*node.definition, -1, indices));
    while (!next_.empty()) {
      const NodeId n = *next_.begin();
      next_.erase(next_.begin());
      const Meeting met = Meet(n);
      if (met != Meeting::kNone) return met == Meeting::kRow;
    }
    return false;
  }

 private:
  // [dimension]: along which of the tensor's dimensions columns are apart. No mark: its elements
  // were computed of several columns.
  using Marks = std::vector<bool>;

  // What a node is to the columns: nothing that decides, the row parallel product, or a product of
  // what was computed of several columns, for which these must be gathered all the same.
  enum class Meeting { kNone, kRow, kMixed };

  // The result of the node has these marks; its readers are next.
  void Reach(NodeId n, Marks marks) {
    const TensorId result = graph_.nodes[n].result;
    marks_[result] = std::move(marks);
    if (IsCarried(graph_.tensors[result])) return;  // a gradient has come to its weight
    for (const NodeId reader : graph_.tensors[result].consumers) {
      if (reader > n) next_.insert(reader);
    }
  }

  // What the node passes on is reached.
  Meeting Meet(NodeId n) {
    const Node& node = graph_.nodes[n];
    std::vector<bool> indices(node.definition->indices.size(), false);
    bool apart = true;  // whether nothing that it reads was computed of several columns
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const auto found = marks_.find(node.operands[o]);
      if (found == marks_.end()) continue;
      apart &= Any(found->second);
      const std::vector<int> along = IndicesAlong(*node.definition, static_cast<int>(o));
      for (size_t d = 0; d < along.size(); ++d) {
        if (along[d] >= 0 && found->second[d]) indices[along[d]] = true;
      }
    }
    if (products_[n].has_value()) {
      if (!apart) return Meeting::kMixed;
      for (const int index : products_[n]->inner) {
        if (indices[index]) return Meeting::kRow;
      }
      return Meeting::kNone;  // columns end here
    }
    Marks dims = MarkedDims(*node.definition, -1, indices);
    if (!apart) dims.assign(dims.size(), false);
    Reach(n, std::move(dims));
    return Meeting::kNone;
  }

  const Graph& graph_;
  const std::vector<absl::optional<WeightProduct>>& products_;
  std::map<TensorId, Marks> marks_;  // of what was reached
  std::set<NodeId> next_;
};

}  // namespace

bool HasRowPartner(const Graph& graph, const std::vector<absl::optional<WeightProduct>>& products,
                   NodeId column) {
  return Follower(graph, products).MeetsRow(column, products[column]->outputs);
}

std::vector<int> IndicesWithPartner(const Graph& graph,
                                    const std::vector<absl::optional<WeightProduct>>& products,
                                    NodeId column) {
  const std::vector<int>& outputs = products[column]->outputs;
  if (outputs.size() == 1) return outputs;
  std::vector<int> apart;
  for (const int index : outputs) {
    if (Follower(graph, products).MeetsRow(column, {index})) apart.push_back(index);
  }
  return apart.empty() ? outputs : apart;
}

}  // namespace yuba::search
