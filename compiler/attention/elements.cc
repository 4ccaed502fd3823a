#include "compiler/attention/elements.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

constexpr int kMostTerms = 64;  // of an element: no attention needs as many

// What an attention computes of its scores one after the other is far less than so many nodes. A
// stream of residuals, with which no scores begin, would lead through the whole model.
constexpr int kMostReaders = 256;

bool IsAmong(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

Elements::Elements(const Graph& graph, KnownMasks& masks, TensorId origin)
    : graph_(graph), masks_(masks) {
  std::vector<int>& own = dims_[origin];
  own.resize(graph.tensors[origin].type.dims.size());
  std::iota(own.begin(), own.end(), 0);
  LearnReaders(graph.tensors[origin].producer);
}

void Elements::LearnReaders(NodeId first) {
  const Interval nodes = NodesOf(graph_, graph_.nodes[first].entry);
  std::set<NodeId> readers;  // that are to be looked at, in their order
  const auto add = [&](NodeId id) {
    for (const NodeId reader : graph_.tensors[graph_.nodes[id].result].consumers) {
      if (reader > id && reader < nodes.end) readers.insert(reader);
    }
  };
  add(first);
  for (int left = kMostReaders; !readers.empty() && left > 0; --left) {
    const NodeId id = *readers.begin();
    readers.erase(readers.begin());
    const Node& node = graph_.nodes[id];
    if (IsOpaque(*node.definition) || IsAmong(IndicesOf(id), -1)) continue;
    Learn(id, node.result);
    add(id);
  }
}

const std::vector<int>* Elements::DimsOf(TensorId tensor) const {
  const auto known = dims_.find(SourceOf(graph_, tensor));
  return known == dims_.end() ? nullptr : &known->second;
}

bool Elements::IsKnown(TensorId tensor) const {
  const std::vector<int>* const dims = DimsOf(tensor);
  return dims != nullptr && !IsAmong(*dims, -1);
}

std::vector<int> Elements::IndicesOf(NodeId id) const {
  const Node& node = graph_.nodes[id];
  const Definition& definition = *node.definition;
  std::vector<int> indices(definition.indices.size(), -1);
  const auto add = [&](TensorId tensor, const std::vector<Affine>& position) {
    const std::vector<int>* const dims = DimsOf(tensor);
    if (dims == nullptr) return;
    for (size_t d = 0; d < position.size(); ++d) {
      const int index = position[d].BareIndex();
      if (index >= 0) indices[index] = (*dims)[d];
    }
  };
  Walk(definition, [&](const Expr& expr) {
    if (expr.kind == Expr::kRead) add(node.operands[expr.operand], expr.position);
  });
  return indices;
}

void Elements::Learn(NodeId id, TensorId tensor) {
  const Node& node = graph_.nodes[id];
  const std::vector<int> indices = IndicesOf(id);
  const auto learn = [&](const std::vector<Affine>& position) {
    std::vector<int>& dims = dims_[SourceOf(graph_, tensor)];
    dims.clear();
    for (const Affine& affine : position) {
      const int index = affine.BareIndex();
      dims.push_back(index >= 0 ? indices[index] : -1);
    }
  };
  if (tensor == node.result) return learn(node.definition->left);
  Walk(*node.definition, [&](const Expr& expr) {
    if (expr.kind == Expr::kRead && node.operands[expr.operand] == tensor) learn(expr.position);
  });
}

// Writes the body of one node in dimensions of the origin.
class Elements::Writer {
 public:
  Writer(Elements& elements, NodeId id, const std::set<TensorId>& leaves)
      : elements_(elements),
        graph_(elements.graph_),
        id_(id),
        node_(graph_.nodes[id]),
        leaves_(leaves) {}

  ExprPtr Write() {
    const std::vector<int> dims = elements_.IndicesOf(id_);
    for (size_t i = 0; i < dims.size(); ++i) {
      at_.push_back(dims[i] >= 0 ? IndexAffine(dims[i]) : Affine());
      if (dims[i] < 0 && node_.definition->indices[i].extent > 1) return nullptr;
    }
    return Write(node_.definition->body);
  }

 private:
  ExprPtr Write(const ExprPtr& expr) {
    return written_.Of(expr, [&]() -> ExprPtr {
      if (IsCastOfFloat(*expr)) return Write(expr->args[0]);
      auto copy = std::make_shared<Expr>(*expr);
      if (expr->kind == Expr::kCall && expr->function == Function::kSelect) {
        const ExprPtr mask = elements_.masks_.Of(id_, expr->args[0]);
        if (mask != nullptr) copy->args[0] = mask;
      }
      for (ExprPtr& arg : copy->args) {
        arg = Write(arg);
        if (arg == nullptr) return nullptr;
      }
      if (copy->kind == Expr::kIndex) copy->affine = Substitute(copy->affine, at_);
      if (copy->kind == Expr::kRead) return WriteRead(std::move(copy));
      // Of which type a float is says nothing where casts are left out.
      if (IsFloat(copy->type)) copy->type = ElementType::kF32;
      return copy;
    });
  }

  bool IsCastOfFloat(const Expr& expr) const {
    return expr.kind == Expr::kCall && expr.function == Function::kCast && IsFloat(expr.type) &&
           IsFloat(TypeOf(*expr.args[0], node_.definition->operands));
  }

  // Tensors of known dimensions are read at one place.
  ExprPtr WriteRead(std::shared_ptr<Expr> read) {
    const NodeId producer = ProducerOf(node_.operands[read->operand]);
    read->operand = SourceOf(graph_, node_.operands[read->operand]);
    for (Affine& affine : read->position) affine = Substitute(affine, at_);
    if (IsFloat(read->type)) read->type = ElementType::kF32;
    if (!elements_.IsKnown(read->operand)) return read;
    const std::vector<int>& dims = *elements_.DimsOf(read->operand);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!(read->position[d] == IndexAffine(dims[d]))) return nullptr;
    }
    const bool leaf = producer < 0 || leaves_.count(read->operand) != 0 ||
                      !IsMap(*graph_.nodes[producer].definition) ||
                      IsOpaque(*graph_.nodes[producer].definition);
    return leaf ? ExprPtr(std::move(read)) : elements_.Of(producer, leaves_);
  }

  // The node that computes what the node reads of the tensor, through copies.
  NodeId ProducerOf(TensorId tensor) const {
    NodeId producer = ProducerFor(graph_, tensor, id_);
    while (producer >= 0 && IsCopy(graph_, graph_.nodes[producer]))
      producer = ProducerFor(graph_, graph_.nodes[producer].operands[0], producer);
    return producer;
  }

  Elements& elements_;
  const Graph& graph_;
  const NodeId id_;
  const Node& node_;
  const std::set<TensorId>& leaves_;
  std::vector<Affine> at_;  // [index of the definition]
  PerTerm<ExprPtr> written_;
};

ExprPtr Elements::Of(NodeId node, const std::set<TensorId>& leaves) {
  const ExprPtr written = Writer(*this, node, leaves).Write();
  if (written == nullptr) return nullptr;
  ExprPtr element = terms_.Of(written);
  return DistinctTerms(element) > kMostTerms ? nullptr : element;
}

}  // namespace yuba::compiler
