#include "compiler/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/types/optional.h"
#include "compiler/attention/elements.h"
#include "compiler/attention/score.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// By so much of itself a number may differ that is rounded to f32 in two ways.
constexpr double kRounding = 1e-6;

bool IsCall(const Expr& expr, Function function) {
  return expr.kind == Expr::kCall && expr.function == function;
}

bool IsReadOf(const Expr& expr, TensorId tensor) {
  return expr.kind == Expr::kRead && expr.operand == tensor && expr.args.empty();
}

bool IsContraction(const Node& node) {
  return !IsOpaque(*node.definition) && MatchContraction(*node.definition).has_value();
}

// The operand of a contraction that is not `tensor`; -1 where it reads others.
TensorId OtherFactor(const Node& node, TensorId tensor) {
  if (node.operands.size() != 2) return -1;
  if (node.operands[0] == tensor) return node.operands[1];
  return node.operands[1] == tensor ? node.operands[0] : -1;
}

bool IsReduction(const Node& node, Reducer reducer) {
  const Definition& definition = *node.definition;
  return definition.reducer == reducer && definition.where.empty() && definition.data_where.empty();
}

// Finds the attention whose scores one contraction computes.
class Finder {
 public:
  Finder(const Graph& graph, NodeId scores)
      : graph_(graph), products_(graph.nodes[scores].result), elements_(graph, products_) {
    found_.scores = scores;
  }

  absl::optional<Attention> Find() {
    if (!FindForward()) return absl::nullopt;
    const std::set<NodeId> forward = Leading({found_.values}, {});
    found_.forward.assign(forward.begin(), forward.end());
    if (AreAlone(forward, {found_.values})) return std::move(found_);
    // What else reads the weights is the other half of a training step, or keeps them.
    if (!FindBackward()) return absl::nullopt;
    const std::set<NodeId> gradients = {found_.value_gradients, found_.query_gradients,
                                        found_.key_gradients};
    const std::set<NodeId> backward = Leading(gradients, forward);
    found_.backward.assign(backward.begin(), backward.end());
    std::set<NodeId> members = forward, results = gradients;
    members.insert(backward.begin(), backward.end());
    results.insert(found_.values);
    if (!AreAlone(members, results)) return absl::nullopt;
    return std::move(found_);
  }

 private:
  const Node& NodeOf(NodeId id) const { return graph_.nodes[id]; }

  // The contractions among the readers of `tensor` but `except`.
  std::vector<NodeId> ContractionsOf(TensorId tensor, NodeId except = -1) const {
    std::vector<NodeId> found;
    for (const NodeId id : graph_.tensors[tensor].consumers) {
      if (id != except && IsContraction(NodeOf(id))) found.push_back(id);
    }
    return found;
  }

  // A map that makes weights of the scores, and the contraction that first reads them.
  bool FindForward() {
    const Interval nodes = NodesOf(graph_, NodeOf(found_.scores).entry);
    for (NodeId id = found_.scores + 1; id < nodes.end; ++id) {
      const Node& node = NodeOf(id);
      if (!IsMap(*node.definition) || !IsWhole(node.result)) continue;
      const std::vector<NodeId> readers = ContractionsOf(node.result);
      if (readers.empty() || !MatchSoftmax(id)) continue;
      weights_ = id;
      return FindValues(readers[0]) && FindProducts();
    }
    return false;
  }

  // Whether the tensor has all dimensions of the scores, and no other.
  bool IsWhole(TensorId tensor) const {
    const std::vector<int>* const dims = elements_.DimsOf(tensor);
    if (dims == nullptr || std::count(dims->begin(), dims->end(), -1) > 0) return false;
    return std::set<int>(dims->begin(), dims->end()).size() ==
           graph_.tensors[products_].type.dims.size();
  }

  // exp(x - max x) / sum(exp(x - max x)), where x is a score
  bool MatchSoftmax(NodeId id) {
    const ExprPtr weight = elements_.Of(id);
    if (weight == nullptr || !IsCall(*weight, Function::kDiv)) return false;
    const ExprPtr power = weight->args[0];
    const Expr& sum = *weight->args[1];
    if (!IsCall(*power, Function::kExp) || sum.kind != Expr::kRead) return false;
    const ExprPtr shifted = power->args[0];
    if (!IsCall(*shifted, Function::kSub) || shifted->args[1]->kind != Expr::kRead) return false;
    const ExprPtr score = shifted->args[0];
    const auto matched = MatchScore(score, products_);
    const NodeId of_max = graph_.tensors[shifted->args[1]->operand].producer;
    const NodeId of_sum = graph_.tensors[sum.operand].producer;
    if (!matched.has_value() || !Reduces(of_max, Reducer::kMax, score) ||
        !Reduces(of_sum, Reducer::kSum, power) || KeysOf(of_max) != KeysOf(of_sum)) {
      return false;
    }
    keys_ = KeysOf(of_max);
    found_.scale = matched->scale;
    found_.mask = matched->mask;
    weight_ = weight;
    return !found_.mask.causal || (keys_.count(found_.mask.key_dim) == 1 &&
                                   keys_.count(found_.mask.query_dim) == 0);
  }

  bool Reduces(NodeId id, Reducer reducer, const ExprPtr& element) {
    return id >= 0 && IsReduction(NodeOf(id), reducer) && elements_.Of(id) == element;
  }

  // The dimensions of the scores along which a node reduces.
  std::set<int> KeysOf(NodeId id) const {
    std::set<int> keys;
    const std::vector<int> dims = elements_.IndicesOf(id);
    for (size_t i = 0; i < dims.size(); ++i) {
      if (NodeOf(id).definition->indices[i].reduction) keys.insert(dims[i]);
    }
    return keys;
  }

  // The contraction of weights and values adds over all keys.
  bool FindValues(NodeId id) {
    found_.values = id;
    found_.value = OtherFactor(NodeOf(id), NodeOf(weights_).result);
    if (found_.value < 0 || KeysOf(id) != keys_) return false;
    elements_.Learn(id, found_.value);
    return true;
  }

  // Of the two factors of the scores the keys have the dimensions along which weights are reduced.
  bool FindProducts() {
    const Node& node = NodeOf(found_.scores);
    if (node.operands.size() != 2) return false;
    const Contraction contraction = *MatchContraction(*node.definition);
    std::vector<int> dim_of(node.definition->indices.size(), -1);
    for (size_t d = 0; d < node.definition->left.size(); ++d) {
      const int index = node.definition->left[d].BareIndex();
      if (index >= 0) dim_of[index] = static_cast<int>(d);
    }
    const auto are_keys = [&](const std::vector<int>& indices) {
      std::set<int> dims;
      for (const int index : indices) dims.insert(dim_of[index]);
      return dims == keys_;
    };
    const bool right = are_keys(contraction.columns);
    if (!right && !are_keys(contraction.rows)) return false;
    found_.key = node.operands[right ? contraction.right : contraction.left];
    found_.query = node.operands[right ? contraction.left : contraction.right];
    return true;
  }

  // The nodes behind the scores on which `last` depend through tensors with dimensions of the scores
  // alone, `last` included and those of `except` left out.
  std::set<NodeId> Leading(std::set<NodeId> last, const std::set<NodeId>& except) const {
    std::set<NodeId> members = std::move(last);
    for (NodeId id = *members.rbegin(); id > found_.scores; --id) {
      if (members.count(id) == 0) continue;
      for (const TensorId operand : NodeOf(id).operands) {
        const NodeId producer = ProducerFor(graph_, operand, id);
        if (producer >= found_.scores && elements_.IsKnown(operand) && except.count(producer) == 0)
          members.insert(producer);
      }
    }
    return members;
  }

  // Whether nothing but members reads what members compute, but of `results`.
  bool AreAlone(const std::set<NodeId>& members, const std::set<NodeId>& results) const {
    return std::all_of(members.begin(), members.end(), [&](NodeId id) {
      const Tensor& tensor = graph_.tensors[NodeOf(id).result];
      if (results.count(id) != 0) return true;
      return !tensor.output && !IsStored(tensor.kind) &&
             std::all_of(tensor.consumers.begin(), tensor.consumers.end(),
                         [&](NodeId reader) { return members.count(reader) != 0; });
    });
  }

  // dv = sum over queries p * do; dp = sum do * v; t = sum over keys p * dp; ds = scale * p * (dp - t)
  bool FindBackward() {
    const TensorId weights = NodeOf(weights_).result;
    for (const NodeId of_value : ContractionsOf(weights, found_.values)) {
      const TensorId gradient = OtherFactor(NodeOf(of_value), weights);
      if (gradient < 0) continue;
      elements_.Learn(of_value, gradient);
      for (const NodeId of_weight : ContractionsOf(gradient, of_value)) {
        if (OtherFactor(NodeOf(of_weight), gradient) != found_.value) continue;
        elements_.Learn(of_weight, NodeOf(of_weight).result);
        if (!IsWhole(NodeOf(of_weight).result)) continue;
        found_.value_gradients = of_value;
        found_.weight_gradients = of_weight;
        found_.result_gradient = gradient;
        if (FindScoreGradients()) return true;
      }
    }
    return false;
  }

  // The map that makes gradients of the scores, which the gradients of queries and keys read.
  bool FindScoreGradients() {
    const Interval nodes = NodesOf(graph_, NodeOf(found_.scores).entry);
    for (const NodeId of_query : ContractionsOf(found_.key, found_.scores)) {
      const TensorId gradient = OtherFactor(NodeOf(of_query), found_.key);
      const NodeId map = gradient < 0 ? -1 : graph_.tensors[gradient].producer;
      if (map <= found_.weight_gradients || map >= nodes.end || !MatchScoreGradient(map)) continue;
      for (const NodeId of_key : ContractionsOf(gradient, of_query)) {
        if (OtherFactor(NodeOf(of_key), gradient) != found_.query) continue;
        found_.query_gradients = of_query;
        found_.key_gradients = of_key;
        return true;
      }
    }
    return false;
  }

  bool MatchScoreGradient(NodeId map) {
    if (!IsMap(*NodeOf(map).definition)) return false;
    elements_.LearnReaders(found_.weight_gradients);
    const TensorId weight_gradient = NodeOf(found_.weight_gradients).result;
    if (!IsWhole(NodeOf(map).result)) return false;
    const ExprPtr element = elements_.Of(map);
    if (element == nullptr) return false;
    const absl::optional<Scaled> scaled = MatchScaled(element);
    if (!scaled.has_value() || !IsCall(*scaled->value, Function::kMul)) return false;
    const double scale = found_.scale;
    if (std::abs(scaled->scale - scale) > kRounding * std::abs(scale)) return false;
    // Weights of hidden scores are 0, and so are their gradients without a mask.
    if (scaled->mask.causal && !HideTheSame(scaled->mask, found_.mask)) return false;
    for (const int w : {0, 1}) {
      const ExprPtr& difference = scaled->value->args[1 - w];
      if (scaled->value->args[w] != weight_ || !IsCall(*difference, Function::kSub)) continue;
      const Expr& shift = *difference->args[1];
      if (!IsReadOf(*difference->args[0], weight_gradient) || shift.kind != Expr::kRead) continue;
      if (IsShift(graph_.tensors[shift.operand].producer, weight_gradient)) return true;
    }
    return false;
  }

  // sum over keys p * dp
  bool IsShift(NodeId id, TensorId weight_gradient) {
    if (id < 0 || !IsReduction(NodeOf(id), Reducer::kSum) || KeysOf(id) != keys_) return false;
    const ExprPtr product = elements_.Of(id);
    if (product == nullptr || !IsCall(*product, Function::kMul)) return false;
    const auto& args = product->args;
    return (args[0] == weight_ && IsReadOf(*args[1], weight_gradient)) ||
           (args[1] == weight_ && IsReadOf(*args[0], weight_gradient));
  }

  const Graph& graph_;
  const TensorId products_;
  Elements elements_;
  NodeId weights_ = -1;
  std::set<int> keys_;
  ExprPtr weight_;
  Attention found_;
};

}  // namespace

std::vector<Attention> FindAttention(const Graph& graph) {
  std::vector<Attention> found;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    if (!IsContraction(graph.nodes[id])) continue;
    auto attention = Finder(graph, id).Find();
    if (attention.has_value()) found.push_back(*std::move(attention));
  }
  return found;
}

}  // namespace yuba::compiler
