#include "compiler/cluster/columns.h"

#include <algorithm>

#include "compiler/cluster/loops_fit.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// Whose accumulators stay in the registers of a thread, up to 8 columns of each.
constexpr int kMostSums = 4;

// Whether some columns are computed otherwise than their neighbours: then a thread takes one column
// at a time, and its sums are added up in another order.
bool HasBranches(const Definition& definition) {
  bool branches = !definition.where.empty() || !definition.data_where.empty();
  Walk(definition, [&](const Expr& expr) {
    branches |= expr.kind == Expr::kRead && !expr.args.empty();
    branches |=
        expr.kind == Expr::kCall && expr.function == Function::kSelect && NamesIndex(*expr.args[0]);
  });
  return branches;
}

class Columns {
 public:
  Columns(const Graph& graph, const std::vector<NodeId>& nodes) : graph_(graph) {
    for (const NodeId id : nodes) nodes_.push_back(&graph.nodes[id]);
  }

  absl::optional<Cluster> Find() const {
    if (nodes_.size() < 2 || !FitOneFunction(nodes_) || !IsSum(*nodes_[0])) return absl::nullopt;
    Cluster cluster;
    cluster.shared = static_cast<int>(nodes_[0]->definition->left.size());
    cluster.entry = nodes_[0]->entry;
    int sums = 0;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      sums += IsSum(*nodes_[n]);
      if (!IsOfColumns(*nodes_[n], cluster.shared) || !Joins(n, cluster.shared))
        return absl::nullopt;
      cluster.results.push_back(nodes_[n]->result);
    }
    return sums > kMostSums ? absl::nullopt : absl::make_optional(cluster);
  }

 private:
  static bool IsSum(const Node& node) { return kernels::SumsDownColumns(*node.definition); }

  // Whether it computes an element of each of `shared` dimensions, and no library does.
  bool IsOfColumns(const Node& node, int shared) const {
    const Definition& definition = *node.definition;
    const auto outputs = std::count_if(definition.indices.begin(), definition.indices.end(),
                                       [](const Index& index) { return !index.reduction; });
    return outputs == shared && !IsOpaque(definition) && !IsCopy(graph_, node) &&
           !definition.partial && definition.partial_operands.empty() &&
           (IsSum(node) ? !MatchContraction(definition) && !MatchConvolution(definition)
                        : IsMap(definition) && !HasBranches(definition));
  }

  // Whether node number `n` may be in a kernel with those before it.
  bool Joins(size_t n, int shared) const {
    const Node& node = *nodes_[n];
    bool gains = n == 0;
    for (size_t m = 0; m < n; ++m) {
      const Node& other = *nodes_[m];
      if (other.entry != node.entry || !BeginAlike(*other.definition, *node.definition, shared) ||
          !ReadOwnSlices(other, node, shared) || !IsApart(node, other)) {
        return false;
      }
      gains |= IsSum(node) ? IsSum(other) && ReadTheSame(node, other)
                           : HaveInCommon(graph_, other, node);
    }
    return gains;
  }

  // Whether a node before a sum computes nothing that the sum reads, and sums have the same turns.
  static bool IsApart(const Node& node, const Node& other) {
    if (!IsSum(node)) return true;
    const auto& operands = node.operands;
    return std::find(operands.begin(), operands.end(), other.result) == operands.end() &&
           (!IsSum(other) || (kernels::SumInSameTurns(*node.definition, *other.definition) &&
                              !HasBranches(*node.definition) && !HasBranches(*other.definition)));
  }

  // Whether two sums read one tensor that has an element in each of their turns.
  bool ReadTheSame(const Node& a, const Node& b) const {
    int64_t terms = 1;
    for (const Index& index : a.definition->indices) terms *= index.extent;
    return std::any_of(a.operands.begin(), a.operands.end(), [&](TensorId operand) {
      return ElementCount(graph_.tensors[operand].type) >= terms &&
             std::find(b.operands.begin(), b.operands.end(), operand) != b.operands.end();
    });
  }

  const Graph& graph_;
  std::vector<const Node*> nodes_;
};

}  // namespace

absl::optional<Cluster> ColumnsOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  return Columns(graph, nodes).Find();
}

}  // namespace yuba::compiler
