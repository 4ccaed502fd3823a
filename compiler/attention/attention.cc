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
// So far below all other scores that its weight is 0: what exporters write instead of -infinity is
// -10,000 and less. A library does not look at keys that a mask hides.
constexpr double kMostHidden = -1e4;

bool IsCall(const Expr& expr, Function function) {
  return expr.kind == Expr::kCall && expr.function == function;
}

bool IsReadOf(const Expr& expr, TensorId tensor) {
  return expr.kind == Expr::kRead && expr.operand == tensor && expr.args.empty();
}

bool IsContraction(const Node& node) {
  return !IsOpaque(*node.definition) && MatchContraction(*node.definition).has_value();
}

bool IsReduction(const Node& node, Reducer reducer) {
  const Definition& definition = *node.definition;
  return definition.reducer == reducer && definition.where.empty() && definition.data_where.empty();
}

// Whether each query has a key that counts: the first one does.
bool LeavesKeys(const AttentionMask& mask) {
  return !mask.causal || (mask.offset >= 0 && mask.hidden <= kMostHidden);
}

// Finds the attention whose scores one contraction computes.
class Finder {
 public:
  Finder(const Graph& graph, KnownMasks& masks, NodeId scores)
      : graph_(graph),
        scores_(scores),
        origin_(graph.nodes[scores].result),
        elements_(graph, masks, origin_) {}

  absl::optional<Attention> Find() {
    if (!FindWeights() || !FindFactors()) return absl::nullopt;
    const NodeId values = found_.NodeOf(program::kValues);
    const std::set<NodeId> forward = Leading({values}, {});
    found_.forward.assign(forward.begin(), forward.end());
    if (AreAlone(forward, {values})) return std::move(found_);
    // What else reads the weights is the other half of a training step, or keeps them.
    if (!FindGradients()) return absl::nullopt;
    std::set<NodeId> results = {found_.NodeOf(program::kValueGradients),
                                found_.NodeOf(program::kQueryGradients),
                                found_.NodeOf(program::kKeyGradients)};
    const std::set<NodeId> backward = Leading(results, forward);
    found_.backward.assign(backward.begin(), backward.end());
    std::set<NodeId> members = forward;
    members.insert(backward.begin(), backward.end());
    results.insert(values);
    if (!AreAlone(members, results)) return absl::nullopt;
    return std::move(found_);
  }

 private:
  const Node& NodeOf(NodeId id) const { return graph_.nodes[id]; }

  void Set(program::AttentionStep step, NodeId node, TensorId factor) {
    found_.products[step] = {node, factor, elements_.IndicesOf(node)};
  }

  // Whether one is a copy of the other, or both are of a third.
  bool AreSame(TensorId a, TensorId b) const { return SourceOf(graph_, a) == SourceOf(graph_, b); }

  // The operand of a contraction that is not `tensor`; -1 where it reads others.
  TensorId OtherFactor(NodeId id, TensorId tensor) const {
    const std::vector<TensorId>& operands = NodeOf(id).operands;
    if (operands.size() != 2) return -1;
    if (AreSame(operands[0], tensor)) return operands[1];
    return AreSame(operands[1], tensor) ? operands[0] : -1;
  }

  // Whether the contraction is of these two tensors.
  bool IsOther(NodeId id, TensorId tensor, TensorId other) const {
    const TensorId found = OtherFactor(id, tensor);
    return found >= 0 && AreSame(found, other);
  }

  // The contractions among the readers of `tensor` and its copies but `except`, ascending.
  std::set<NodeId> ContractionsOf(TensorId tensor, NodeId except = -1) const {
    std::set<NodeId> found;
    std::vector<TensorId> copies = {SourceOf(graph_, tensor)};
    while (!copies.empty()) {
      const TensorId copy = copies.back();
      copies.pop_back();
      for (const NodeId id : graph_.tensors[copy].consumers) {
        if (IsCopy(graph_, NodeOf(id))) copies.push_back(NodeOf(id).result);
        if (id != except && IsContraction(NodeOf(id))) found.insert(id);
      }
    }
    return found;
  }

  // Whether the tensor has all dimensions of the scores, and no other.
  bool IsWhole(TensorId tensor) const {
    if (!elements_.IsKnown(tensor)) return false;
    const std::vector<int>& dims = *elements_.DimsOf(tensor);
    return std::set<int>(dims.begin(), dims.end()).size() ==
           graph_.tensors[origin_].type.dims.size();
  }

  // The dimensions of the scores along which a node reduces.
  std::set<int> ReducedBy(NodeId id) const {
    std::set<int> dims;
    const std::vector<int> of_indices = elements_.IndicesOf(id);
    for (size_t i = 0; i < of_indices.size(); ++i) {
      if (NodeOf(id).definition->indices[i].reduction) dims.insert(of_indices[i]);
    }
    return dims;
  }

  // A map that makes weights of the scores, and the contraction that reads them first, which adds
  // over all keys.
  bool FindWeights() {
    const Interval nodes = NodesOf(graph_, NodeOf(scores_).entry);
    for (NodeId id = scores_ + 1; id < nodes.end; ++id) {
      const Node& node = NodeOf(id);
      if (!IsMap(*node.definition) || !IsWhole(node.result)) continue;
      const std::set<NodeId> readers = ContractionsOf(node.result);
      if (readers.empty() || !MatchSoftmax(id)) continue;
      weights_ = node.result;
      const NodeId values = *readers.begin();
      const TensorId value = OtherFactor(values, weights_);
      if (value < 0 || ReducedBy(values) != keys_) return false;
      elements_.Learn(values, value);
      Set(program::kValues, values, value);
      return true;
    }
    return false;
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
    const auto matched = MatchScore(score, origin_);
    if (!matched.has_value() || !LeavesKeys(matched->mask)) return false;
    const NodeId of_max = graph_.tensors[shifted->args[1]->operand].producer;
    const NodeId of_sum = graph_.tensors[sum.operand].producer;
    if (!Reduces(of_max, Reducer::kMax, score) || !Reduces(of_sum, Reducer::kSum, power) ||
        ReducedBy(of_max) != ReducedBy(of_sum)) {
      return false;
    }
    keys_ = ReducedBy(of_max);
    found_.key_dims.assign(keys_.begin(), keys_.end());
    found_.scale = matched->scale;
    found_.mask = matched->mask;
    weight_ = weight;
    return !found_.mask.causal ||
           (keys_.count(found_.mask.key_dim) == 1 && keys_.count(found_.mask.query_dim) == 0);
  }

  bool Reduces(NodeId id, Reducer reducer, const ExprPtr& element) {
    return id >= 0 && IsReduction(NodeOf(id), reducer) && elements_.Of(id) == element;
  }

  // Of the two factors of the scores the keys have the dimensions along which weights are reduced.
  bool FindFactors() {
    const Node& node = NodeOf(scores_);
    if (node.operands.size() != 2) return false;
    const Contraction contraction = *MatchContraction(*node.definition);
    std::vector<int> dims(node.definition->indices.size(), -1);
    for (size_t d = 0; d < node.definition->left.size(); ++d) {
      const int index = node.definition->left[d].BareIndex();
      if (index >= 0) dims[index] = static_cast<int>(d);
    }
    const auto are_keys = [&](const std::vector<int>& indices) {
      std::set<int> along;
      for (const int index : indices) along.insert(dims[index]);
      return along == keys_;
    };
    const bool right = are_keys(contraction.columns);
    if (!right && !are_keys(contraction.rows)) return false;
    key_ = node.operands[right ? contraction.right : contraction.left];
    const TensorId query = node.operands[right ? contraction.left : contraction.right];
    found_.products[program::kScores] = {scores_, query, std::move(dims)};
    return true;
  }

  // The nodes from the scores on, on which `last` depend through tensors with dimensions of the
  // scores alone, `last` included and those of `except` left out.
  std::set<NodeId> Leading(std::set<NodeId> last, const std::set<NodeId>& except) const {
    std::set<NodeId> members = std::move(last);
    for (NodeId id = *members.rbegin(); id > scores_; --id) {
      if (members.count(id) == 0) continue;
      for (const TensorId operand : NodeOf(id).operands) {
        const NodeId producer = ProducerFor(graph_, operand, id);
        if (producer >= scores_ && elements_.IsKnown(operand) && except.count(producer) == 0)
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

  // With do, the gradient of the result: dv = sum over queries p * do, dp = sum do * v.
  bool FindGradients() {
    const TensorId value = found_.products[program::kValues].factor;
    for (const NodeId of_value : ContractionsOf(weights_, found_.NodeOf(program::kValues))) {
      const TensorId gradient = OtherFactor(of_value, weights_);
      if (gradient < 0) continue;
      elements_.Learn(of_value, gradient);
      for (const NodeId of_weight : ContractionsOf(gradient, of_value)) {
        if (!IsOther(of_weight, gradient, value)) continue;
        weight_gradient_ = NodeOf(of_weight).result;
        elements_.Learn(of_weight, weight_gradient_);
        if (!IsWhole(weight_gradient_)) continue;
        elements_.LearnReaders(of_weight);
        if (!FindScoreGradients(of_weight)) continue;
        Set(program::kValueGradients, of_value, gradient);
        Set(program::kWeightGradients, of_weight, gradient);
        return true;
      }
    }
    return false;
  }

  // The map that makes ds, gradients of the scores, and dq = sum ds * k, dk = sum ds * q.
  bool FindScoreGradients(NodeId of_weight) {
    const TensorId query = found_.products[program::kScores].factor;
    for (const NodeId of_query : ContractionsOf(key_, scores_)) {
      const TensorId gradient = OtherFactor(of_query, key_);
      const NodeId map = gradient < 0 ? -1 : graph_.tensors[SourceOf(graph_, gradient)].producer;
      if (map <= of_weight || !MatchScoreGradient(map)) continue;
      for (const NodeId of_key : ContractionsOf(gradient, of_query)) {
        if (!IsOther(of_key, gradient, query)) continue;
        Set(program::kQueryGradients, of_query, key_);
        Set(program::kKeyGradients, of_key, query);
        return true;
      }
    }
    return false;
  }

  // scale * p * (dp - sum over keys p * dp)
  bool MatchScoreGradient(NodeId map) {
    if (!IsMap(*NodeOf(map).definition) || !IsWhole(NodeOf(map).result)) return false;
    const ExprPtr element = elements_.Of(map);
    if (element == nullptr) return false;
    const absl::optional<Scaled> scaled = MatchScaled(element);
    if (!scaled.has_value() || !IsCall(*scaled->value, Function::kMul) ||
        std::abs(scaled->scale - found_.scale) > kRounding * std::abs(found_.scale)) {
      return false;
    }
    // Weights of hidden scores are 0, and so are their gradients without a mask.
    if (scaled->mask.causal && !HideTheSame(scaled->mask, found_.mask)) return false;
    const auto& factors = scaled->value->args;
    const ExprPtr& difference = factors[factors[0] == weight_ ? 1 : 0];
    if ((factors[0] != weight_ && factors[1] != weight_) || !IsCall(*difference, Function::kSub))
      return false;
    const Expr& shift = *difference->args[1];
    return IsReadOf(*difference->args[0], weight_gradient_) && shift.kind == Expr::kRead &&
           IsShift(graph_.tensors[shift.operand].producer);
  }

  // sum over keys p * dp
  bool IsShift(NodeId id) {
    if (id < 0 || !IsReduction(NodeOf(id), Reducer::kSum) || ReducedBy(id) != keys_) return false;
    const ExprPtr product = elements_.Of(id);
    if (product == nullptr || !IsCall(*product, Function::kMul)) return false;
    const auto& factors = product->args;
    return (factors[0] == weight_ && IsReadOf(*factors[1], weight_gradient_)) ||
           (factors[1] == weight_ && IsReadOf(*factors[0], weight_gradient_));
  }

  const Graph& graph_;
  const NodeId scores_;
  const TensorId origin_;  // the scores before anything happens to them
  Elements elements_;
  TensorId key_ = -1, weights_ = -1, weight_gradient_ = -1;
  std::set<int> keys_;  // dimensions of the scores
  ExprPtr weight_;      // an element of the weights
  Attention found_;
};

}  // namespace

bool IsForLibrary(const Graph& graph, const Attention& attention) {
  // Of cuDNN's engines for GPUs from A100 on (docs/decisions/160-attention.md).
  constexpr int64_t kMostWidth = 128, kWidthStep = 8;
  std::set<ElementType> types;
  bool fits = true;
  for (const AttentionProduct& product : attention.products) {
    if (product.node < 0) continue;
    types.insert(graph.tensors[product.factor].type.type);
    types.insert(graph.tensors[graph.nodes[product.node].result].type.type);
    const Definition& definition = *graph.nodes[product.node].definition;
    int64_t width = 1;
    for (size_t i = 0; i < definition.indices.size(); ++i)
      width *= product.dims[i] < 0 ? definition.indices[i].extent : 1;
    fits &= width <= kMostWidth && width % kWidthStep == 0;
  }
  return fits && types.size() == 1 &&
         (*types.begin() == ElementType::kBF16 || *types.begin() == ElementType::kF16);
}

std::vector<Attention> FindAttention(const Model& model) {
  const Graph& graph = model.graph;
  KnownMasks masks(model);
  std::vector<Attention> found;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    if (!IsContraction(graph.nodes[id])) continue;
    auto attention = Finder(graph, masks, id).Find();
    if (attention.has_value()) found.push_back(*std::move(attention));
  }
  return found;
}

}  // namespace yuba::compiler
