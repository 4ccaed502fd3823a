#include "compiler/calls/stored_arguments.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// An expression over the elements of tensors, in a node whose definition has the same indices as
// others that it is compared with.
struct Term {
  const Node& node;
  const Expr& expr;
};

bool IsCommutative(const Expr& expr) {
  return expr.kind == Expr::kCall && expr.args.size() == 2 &&
         (expr.function == Function::kAdd || expr.function == Function::kMul);
}

// Whether both are the same of the same elements, whatever the order of operands.
bool AreEqual(const Term& a, const Term& b) {
  const Expr &x = a.expr, &y = b.expr;
  if (x.kind != y.kind || x.args.size() != y.args.size()) return false;
  if (x.kind == Expr::kRead) {
    return x.args.empty() && a.node.operands[x.operand] == b.node.operands[y.operand] &&
           x.position == y.position;
  }
  if (!SameNode(x, y)) return false;
  const auto equal = [&](size_t i, size_t j) {
    return AreEqual({a.node, *x.args[i]}, {b.node, *y.args[j]});
  };
  if (IsCommutative(x) && equal(0, 1) && equal(1, 0)) return true;
  for (size_t i = 0; i < x.args.size(); ++i)
    if (!equal(i, i)) return false;
  return true;
}

bool HaveSameExtents(const Definition& a, const Definition& b) {
  return std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(),
                    [](const Index& x, const Index& y) { return x.extent == y.extent; });
}

// The activation's node with what it is of.
struct Found {
  NodeId product = -1, activation = -1;
  TensorId value = -1;         // the product's result
  ExprPtr argument;            // of the activation, in its definition; the value itself: null
  std::vector<NodeId> others;  // that read the value, all in that argument
};

class Finder {
 public:
  Finder(const Graph& graph,
         const std::function<bool(const Node&, const std::vector<PostOp>&)>& may_store)
      : graph_(graph), may_store_(may_store) {}

  absl::optional<Found> Find(NodeId activation) const {
    const Node& node = graph_.nodes[activation];
    if (!IsMap(*node.definition) || !node.definition->partial_operands.empty())
      return absl::nullopt;
    for (size_t o = 0; o < node.operands.size(); ++o) {
      auto found = FindIn(activation, static_cast<int>(o));
      if (found.has_value()) return found;
    }
    return absl::nullopt;
  }

 private:
  absl::optional<Found> FindIn(NodeId activation, int operand) const {
    const Node& node = graph_.nodes[activation];
    Found found;
    found.activation = activation;
    found.value = node.operands[operand];
    const Tensor& value = graph_.tensors[found.value];
    const auto steps = MatchPostOps(*node.definition, operand);
    if (!steps.has_value() || steps->empty() || steps->back().kind != PostOp::kGeluTanh ||
        value.kind != TensorKind::kActivation || value.output || value.producer < 0 ||
        graph_.nodes[value.producer].entry != node.entry || value.consumers.size() < 2)
      return absl::nullopt;
    found.product = value.producer;
    if (!may_store_(graph_.nodes[found.product], *steps)) return absl::nullopt;
    if (steps->size() == 1) return found;
    found.argument = ArgumentOf(*node.definition, operand, steps->size() - 1);
    if (found.argument == nullptr || !AreThere(node, found)) return absl::nullopt;
    for (const NodeId reader : value.consumers) {
      if (reader == activation) continue;
      if (!ReadsOnlyArgument(node, graph_.nodes[reader], found) ||
          !AreThere(graph_.nodes[reader], found))
        return absl::nullopt;
      found.others.push_back(reader);
    }
    return found;
  }

  // The term that is so many steps of the operand.
  static ExprPtr ArgumentOf(const Definition& activation, int operand, size_t steps) {
    ExprPtr found;
    const std::function<void(const ExprPtr&)> visit = [&](const ExprPtr& term) {
      if (found != nullptr) return;
      Definition part = activation;
      part.body = term;
      const auto of_part = MatchPostOps(part, operand);
      if (of_part.has_value() && of_part->size() == steps)
        found = term;
      else
        for (const ExprPtr& arg : term->args) visit(arg);
    };
    visit(activation.body);
    return found;
  }

  // Whether what the argument reads beside the value has the same content behind the product as
  // where the node reads it: nothing computes it in between.
  bool AreThere(const Node& node, const Found& found) const {
    const NodeId at = static_cast<NodeId>(&node - graph_.nodes.data());
    const Node& activation = graph_.nodes[found.activation];
    for (const TensorId operand : activation.operands) {
      if (operand == found.value) continue;
      for (NodeId n = found.product; n < at; ++n)
        if (graph_.nodes[n].result == operand ||
            SourceOf(graph_, operand) == graph_.nodes[n].result)
          return false;
    }
    return true;
  }

  // Whether the reader is a map over the same indices that reads the value in the argument alone.
  static bool ReadsOnlyArgument(const Node& activation, const Node& reader, const Found& found) {
    const Definition& definition = *reader.definition;
    if (!IsMap(definition) || !definition.partial_operands.empty() ||
        !HaveSameExtents(definition, *activation.definition) ||
        definition.left != activation.definition->left || reader.entry != activation.entry)
      return false;
    std::set<const Expr*> seen;
    const std::function<bool(const Expr&)> only = [&](const Expr& expr) {
      if (!seen.insert(&expr).second) return true;
      if (AreEqual({reader, expr}, {activation, *found.argument})) return true;
      if (expr.kind == Expr::kRead && reader.operands[expr.operand] == found.value) return false;
      return std::all_of(expr.args.begin(), expr.args.end(),
                         [&](const ExprPtr& arg) { return only(*arg); });
    };
    return only(*definition.body);
  }

  const Graph& graph_;
  const std::function<bool(const Node&, const std::vector<PostOp>&)>& may_store_;
};

// `node` with reads of `stored` in place of the argument of `activation`.
Node WithStored(const Node& node, const Node& activation, const ExprPtr& argument,
                TensorId stored) {
  Definition definition = *node.definition;
  const auto place = static_cast<int>(node.operands.size());
  auto read = std::make_shared<Expr>();
  read->kind = Expr::kRead;
  read->operand = place;
  read->position = definition.left;
  std::map<const Expr*, ExprPtr> known;
  const std::function<ExprPtr(const ExprPtr&)> rewrite = [&](const ExprPtr& expr) -> ExprPtr {
    ExprPtr& made = known[expr.get()];
    if (made != nullptr) return made;
    if (AreEqual({node, *expr}, {activation, *argument})) return made = read;
    auto copy = std::make_shared<Expr>(*expr);
    for (ExprPtr& arg : copy->args) arg = rewrite(arg);
    return made = copy;
  };
  definition.body = rewrite(definition.body);
  definition.operands.push_back(activation.definition->result);
  std::vector<int> tensors(node.operands.begin(), node.operands.end());
  tensors.push_back(stored);
  NormalizeOperands(tensors, definition);
  Node changed = node;
  changed.definition = std::make_shared<const Definition>(std::move(definition));
  changed.operands.assign(tensors.begin(), tensors.end());
  return changed;
}

// What the activation is of, as a node and a tensor of its own.
Node ArgumentNode(const Node& activation, const ExprPtr& argument, Graph& graph) {
  Node node = activation;
  Definition definition = *activation.definition;
  definition.body = argument;
  node.definition = std::make_shared<const Definition>(std::move(definition));
  node.name = absl::StrCat("argument(", activation.name, ")");
  node.result = static_cast<TensorId>(graph.tensors.size());
  Tensor tensor = graph.tensors[activation.result];
  tensor.name = node.name;
  tensor.output = false;
  graph.tensors.push_back(std::move(tensor));
  return node;
}

JointNodes JointOf(const Node& product, const Node& activation) {
  JointNodes joint;
  joint.kind = program::JointCall::ACTIVATION;
  joint.product = product.name;
  joint.other = activation.name;
  for (const Affine& dim : activation.definition->left) joint.indices.push_back(dim.BareIndex());
  return joint;
}

}  // namespace

StoredArguments StoreArguments(
    const Graph& graph,
    const std::function<bool(const Node& product, const std::vector<PostOp>& steps)>& may_store,
    const absl::optional<std::set<std::string>>& wanted) {
  StoredArguments stored;
  stored.graph = graph;
  stored.tensors.resize(graph.tensors.size());
  std::iota(stored.tensors.begin(), stored.tensors.end(), 0);
  std::map<NodeId, std::pair<Node, NodeId>> behind;  // [product]: node to be put there, its like
  const Finder finder(graph, may_store);
  std::set<NodeId> taken;  // products
  for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) {
    const Node& activation = graph.nodes[n];
    if (wanted.has_value() && wanted->count(activation.name) == 0) continue;
    const absl::optional<Found> found = finder.Find(n);
    if (!found.has_value() || !taken.insert(found->product).second) continue;
    if (found->argument == nullptr) {
      stored.joint.push_back(JointOf(graph.nodes[found->product], activation));
      continue;
    }
    const Node argument = ArgumentNode(activation, found->argument, stored.graph);
    stored.tensors.push_back(activation.result);
    stored.joint.push_back(JointOf(argument, activation));
    stored.graph.nodes[n] = WithStored(activation, activation, found->argument, argument.result);
    for (const NodeId reader : found->others) {
      Node& changed = stored.graph.nodes[reader];
      changed = WithStored(changed, activation, found->argument, argument.result);
    }
    behind.emplace(found->product, std::make_pair(argument, n));
  }
  std::vector<Node> nodes;
  for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) {
    nodes.push_back(std::move(stored.graph.nodes[n]));
    stored.nodes.push_back(n);
    const auto added = behind.find(n);
    if (added == behind.end()) continue;
    nodes.push_back(added->second.first);
    stored.nodes.push_back(added->second.second);
  }
  stored.graph.nodes = std::move(nodes);
  Link(stored.graph);
  return stored;
}

}  // namespace yuba::compiler
