#include "compiler/simplify/fold_scales.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

bool IsCall(const Expr& expr, Function function) {
  return expr.kind == Expr::kCall && expr.function == function;
}

std::set<int> IndicesOf(const ExprPtr& term) {
  std::set<int> indices;
  Walk(term, [&](const Expr& expr) {
    for (const Affine& position : expr.position) {
      for (const auto& [index, coefficient] : position.terms) indices.insert(index);
    }
  });
  return indices;
}

// The parts of a map's body that are (value - shift) * scale + rest; shift and rest may be null.
struct Scaled {
  const Expr* term = nullptr;  // what is replaced: all of it
  ExprPtr value, shift, scale, rest;
  bool adds_shift = false;  // (value + shift) * scale
};

class Folder {
 public:
  explicit Folder(Model& model) : graph_(model.graph) {
    for (const Tensor& tensor : graph_.tensors) {
      const bool given =
          tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
      fixed_.push_back(given && tensor.producers.empty());
      names_.insert(tensor.name);
    }
  }

  void Fold() {
    // [node]: what is to be computed before it.
    std::map<NodeId, std::vector<Node>> added;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (MayFold(id)) FoldInto(id, added[id]);
    }
    std::vector<Node> nodes;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      for (Node& node : added[id]) nodes.push_back(std::move(node));
      nodes.push_back(std::move(graph_.nodes[id]));
    }
    const bool changed = nodes.size() > graph_.nodes.size();
    graph_.nodes = std::move(nodes);
    if (!changed) return;
    Link(graph_);
    CheckGraph(graph_);
  }

 private:
  const Definition& DefinitionOf(NodeId id) const { return *graph_.nodes[id].definition; }

  // Whether it is a sum of products that one map alone reads.
  bool MayFold(NodeId id) const {
    const Node& node = graph_.nodes[id];
    const Tensor& tensor = graph_.tensors[node.result];
    return IsSumOfProducts(*node.definition) && tensor.kind == TensorKind::kActivation &&
           !tensor.output && tensor.consumers.size() == 1 && ByteSize(tensor.type.type) >= 4 &&
           IsMap(DefinitionOf(tensor.consumers[0])) &&
           graph_.nodes[tensor.consumers[0]].entry == node.entry;
  }

  void FoldInto(NodeId id, std::vector<Node>& added) {
    Node& product = graph_.nodes[id];
    Node& map = graph_.nodes[graph_.tensors[product.result].consumers[0]];
    const absl::optional<Scaled> scaled = FindScaled(map, product.result);
    if (!scaled.has_value()) return;
    const absl::optional<int> filter = FilterOf(product, map, *scaled);
    if (!filter.has_value()) return;
    ScaleFilter(product, *filter, map, *scaled, added);
    ReplaceTerm(map, *scaled, added);
  }

  bool IsFixed(const ExprPtr& term, const Node& node) const {
    std::vector<Interval> ranges;
    for (const Index& index : node.definition->indices) ranges.push_back({0, index.extent});
    bool fixed = true, reads = false;
    Walk(term, [&](const Expr& expr) {
      fixed &= expr.kind != Expr::kIndex;
      if (expr.kind != Expr::kRead || !fixed) return;
      reads = true;
      fixed = fixed_[node.operands[expr.operand]] && expr.args.empty();
      const TensorType& type = node.definition->operands[expr.operand];
      for (size_t d = 0; d < expr.position.size() && fixed; ++d)
        fixed = Interval{0, type.dims[d]}.Contains(Range(expr.position[d], ranges));
    });
    return fixed && reads;
  }

  // The one term of the map's body that reads the tensor, where it is scaled there.
  absl::optional<Scaled> FindScaled(const Node& map, TensorId tensor) const {
    const auto found = std::find(map.operands.begin(), map.operands.end(), tensor);
    const int operand = static_cast<int>(found - map.operands.begin());
    std::map<const Expr*, std::vector<ExprPtr>> parents;  // by the term: the calls that it is of
    ExprPtr value;
    const auto look = [&](const auto& self, const ExprPtr& term) -> void {
      if (term->kind == Expr::kRead && term->operand == operand) value = term;
      for (const ExprPtr& arg : term->args) {
        std::vector<ExprPtr>& of_arg = parents[arg.get()];
        const bool is_new = of_arg.empty();
        of_arg.push_back(term);
        if (is_new) self(self, arg);
      }
    };
    look(look, map.definition->body);
    if (value == nullptr || value->position != map.definition->left || !value->args.empty())
      return absl::nullopt;
    // The call of which alone the term is an argument, once, and the other argument.
    const auto only_parent = [&](const ExprPtr& term) {
      const std::vector<ExprPtr>& calls = parents[term.get()];
      return calls.size() == 1 && calls[0]->args.size() == 2 ? calls[0] : nullptr;
    };
    const auto other = [](const ExprPtr& call, const ExprPtr& term) {
      return call->args[call->args[0] == term ? 1 : 0];
    };
    Scaled scaled;
    scaled.value = value;
    ExprPtr inner = value, call = only_parent(inner);
    if (call == nullptr) return absl::nullopt;
    const bool adds = IsCall(*call, Function::kAdd);
    const bool subtracts = IsCall(*call, Function::kSub) && call->args[0] == inner;
    if ((adds || subtracts) && IsFixed(other(call, inner), map)) {
      scaled.shift = other(call, inner);
      scaled.adds_shift = adds;
      inner = call;
      call = only_parent(inner);
    }
    if (call == nullptr || !IsCall(*call, Function::kMul) || !IsFixed(other(call, inner), map))
      return absl::nullopt;
    scaled.scale = other(call, inner);
    scaled.term = call.get();
    const ExprPtr sum = only_parent(call);
    if (sum != nullptr && IsCall(*sum, Function::kAdd) && IsFixed(other(sum, call), map)) {
      scaled.rest = other(sum, call);
      scaled.term = sum.get();
    }
    return scaled;
  }

  // The operand of the product that can be scaled: it has all indices of the scale, each along a
  // dimension of its own.
  absl::optional<int> FilterOf(const Node& product, const Node& map, const Scaled& scaled) const {
    const absl::Span<const ExprPtr> factors = FactorsOf(*product.definition);
    if (factors[0]->operand == factors[1]->operand) return absl::nullopt;
    for (const ExprPtr& factor : factors) {
      if (!fixed_[product.operands[factor->operand]] || !factor->args.empty()) continue;
      if (product.definition->operands[factor->operand].type != product.definition->result.type)
        continue;
      const std::vector<int> dims = DimsOf(*factor, product, map);
      const std::set<int> indices = IndicesOf(scaled.scale);
      if (std::all_of(indices.begin(), indices.end(), [&](int i) { return dims[i] >= 0; }))
        return factor->operand;
    }
    return absl::nullopt;
  }

  // [index of the map]: the dimension of the factor along which it runs, or -1.
  static std::vector<int> DimsOf(const Expr& factor, const Node& product, const Node& map) {
    std::vector<int> dims(map.definition->indices.size(), -1);
    const std::vector<Affine>&left = product.definition->left, &own = map.definition->left;
    for (size_t d = 0; d < left.size(); ++d) {
      const int index = left[d].BareIndex(), of_map = own[d].BareIndex();
      if (index < 0 || of_map < 0) continue;
      for (size_t e = 0; e < factor.position.size(); ++e) {
        if (factor.position[e].BareIndex() == index) dims[of_map] = static_cast<int>(e);
      }
    }
    return dims;
  }

  void ScaleFilter(Node& product, int filter, const Node& map, const Scaled& scaled,
                   std::vector<Node>& added) {
    const absl::Span<const ExprPtr> factors = FactorsOf(*product.definition);
    const Expr& factor = *factors[factors[0]->operand == filter ? 0 : 1];
    const TensorType type = product.definition->operands[filter];
    Definition definition;
    definition.name = "scaled";
    definition.operands = map.definition->operands;
    std::vector<Affine> whole;
    for (size_t d = 0; d < type.dims.size(); ++d) {
      whole.push_back(IndexAffine(static_cast<int>(d)));
      definition.indices.push_back({absl::StrCat("i", d), type.dims[d], false});
    }
    definition.left = whole;
    definition.result = type;
    std::vector<Affine> renamed(map.definition->indices.size());
    const std::vector<int> dims = DimsOf(factor, product, map);
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] >= 0) renamed[i] = whole[dims[i]];
    }
    const ExprPtr scale = Substitute(scaled.scale, renamed, Same(map.operands.size()));
    const int own = static_cast<int>(definition.operands.size());
    definition.operands.push_back(type);
    definition.body = CallExpr(Function::kMul, {ReadExpr(own, whole, type.type), scale}, type.type);
    std::vector<TensorId> operands = map.operands;
    operands.push_back(product.operands[filter]);
    product.operands[filter] = AddNode(std::move(definition), operands, product, "scaled", added);
  }

  // The map's term becomes the value and a sum of what is fixed.
  void ReplaceTerm(Node& map, const Scaled& scaled, std::vector<Node>& added) {
    Definition definition = *map.definition;
    const ElementType type = definition.result.type;
    ExprPtr sum = scaled.rest, replaced = scaled.value;
    if (scaled.shift != nullptr) {
      const ExprPtr shift = CallExpr(Function::kMul, {scaled.shift, scaled.scale}, type);
      const Function combine = scaled.adds_shift ? Function::kAdd : Function::kSub;
      sum = sum != nullptr      ? CallExpr(combine, {sum, shift}, type)
            : scaled.adds_shift ? shift
                                : CallExpr(Function::kNeg, {shift}, type);
    }
    if (sum != nullptr) {
      const ExprPtr read = FixedRead(sum, map, definition, added);
      replaced = CallExpr(Function::kAdd, {scaled.value, read}, type);
    }
    PerTerm<ExprPtr> known;
    definition.body = WithTerm(definition.body, scaled.term, replaced, known);
    NormalizeOperands(map.operands, definition);
    ShareTerms(definition);
    map.definition = std::make_shared<const Definition>(std::move(definition));
  }

  static ExprPtr WithTerm(const ExprPtr& term, const Expr* old, const ExprPtr& replaced,
                          PerTerm<ExprPtr>& known) {
    if (term.get() == old) return replaced;
    std::vector<ExprPtr> args;
    bool other = false;
    for (const ExprPtr& arg : term->args) {
      args.push_back(known.Of(arg, [&] { return WithTerm(arg, old, replaced, known); }));
      other |= args.back() != arg;
    }
    if (!other) return term;
    auto copy = std::make_shared<Expr>(*term);
    copy->args = std::move(args);
    return copy;
  }

  // A read of the fixed term's value, which a node of its own computes.
  ExprPtr FixedRead(const ExprPtr& term, Node& map, Definition& definition,
                    std::vector<Node>& added) {
    Definition moved;
    moved.name = "shift";
    moved.operands = definition.operands;
    moved.result.type = definition.result.type;
    moved.body = term;
    std::vector<Affine> renamed(definition.indices.size()), position;
    for (const int index : IndicesOf(term)) {
      renamed[index] = IndexAffine(static_cast<int>(moved.indices.size()));
      moved.left.push_back(renamed[index]);
      moved.result.dims.push_back(definition.indices[index].extent);
      moved.indices.push_back({definition.indices[index].name, moved.result.dims.back(), false});
      position.push_back(IndexAffine(index));
    }
    moved.body = Substitute(term, renamed, Same(map.operands.size()));
    const TensorType type = moved.result;
    map.operands.push_back(AddNode(std::move(moved), map.operands, map, "shift", added));
    definition.operands.push_back(type);
    return ReadExpr(static_cast<int>(definition.operands.size()) - 1, std::move(position),
                    type.type);
  }

  static std::vector<int> Same(size_t count) {
    std::vector<int> same;
    for (size_t i = 0; i < count; ++i) same.push_back(static_cast<int>(i));
    return same;
  }

  TensorId AddNode(Definition definition, std::vector<TensorId> operands, const Node& like,
                   const char* what, std::vector<Node>& added) {
    NormalizeOperands(operands, definition);
    ShareTerms(definition);
    Tensor tensor;
    tensor.name = absl::StrCat(like.name, "/", what);
    for (int i = 2; !names_.insert(tensor.name).second; ++i)
      tensor.name = absl::StrCat(like.name, "/", what, "#", i);
    tensor.type = definition.result;
    for (const int64_t extent : definition.result.dims) tensor.dims.push_back({extent});
    Node node;
    node.name = tensor.name;
    node.op = like.op;
    node.from = like.from;
    node.instance = like.instance;
    node.entry = like.entry;
    node.operands = std::move(operands);
    node.result = static_cast<TensorId>(graph_.tensors.size());
    node.definition = std::make_shared<const Definition>(std::move(definition));
    graph_.tensors.push_back(std::move(tensor));
    fixed_.push_back(true);
    added.push_back(std::move(node));
    return added.back().result;
  }

  Graph& graph_;
  std::vector<bool> fixed_;  // [tensor]: it never changes
  std::set<std::string> names_;
};

}  // namespace

void FoldScales(Model& model) { Folder(model).Fold(); }

}  // namespace yuba::compiler
