#include "compiler/simplify/invariants.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba::compiler {
namespace {

// Moves what never changes out of one graph.
class Mover {
 public:
  explicit Mover(Model& model) : model_(model), graph_(model.graph) {
    for (const Tensor& tensor : graph_.tensors) {
      const bool given =
          tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
      fixed_.push_back(given && tensor.producers.empty());
      names_.insert(tensor.name);
    }
  }

  void Move() {
    std::vector<Node> kept;
    for (Node& node : graph_.nodes) {
      if (IsFixed(node) && !graph_.tensors[node.result].output) {
        MoveNode(std::move(node));
      } else {
        HoistTerms(node);
        kept.push_back(std::move(node));
      }
    }
    if (init_.empty()) {
      graph_.nodes = std::move(kept);
      return;
    }
    for (Node& node : kept) ++node.entry;
    graph_.entries.insert(graph_.entries.begin(), Entry{kInitEntry, 1});
    graph_.nodes = std::move(init_);
    for (Node& node : kept) graph_.nodes.push_back(std::move(node));
    Link(graph_);
    CheckGraph(graph_);
  }

 private:
  bool IsFixed(const Node& node) const {
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](TensorId t) { return fixed_[t]; }) &&
           !node.operands.empty() && !IsCarried(graph_.tensors[node.result]);
  }

  // The result is a state from now on: `init` writes it, and it stays.
  void MakeState(TensorId id) {
    Tensor& tensor = graph_.tensors[id];
    tensor.kind = TensorKind::kState;
    fixed_[id] = true;
    InitialValue zero;
    zero.kind = InitialValue::kFill;
    zero.data = std::make_shared<const std::string>(ByteSize(tensor.type.type), '\0');
    model_.values[id] = std::move(zero);
  }

  void MoveNode(Node node) {
    MakeState(node.result);
    node.entry = 0;
    init_.push_back(std::move(node));
  }

  void HoistTerms(Node& node) {
    if (node.definition->partial || !node.definition->partial_operands.empty()) return;
    Definition definition = *node.definition;
    bool changed = false;
    PerTerm<ExprPtr> known;
    definition.body = WithoutFixed(definition.body, node, definition, known, &changed);
    if (!changed) return;
    NormalizeOperands(node.operands, definition);
    ShareTerms(definition);
    node.definition = std::make_shared<const Definition>(std::move(definition));
  }

  // The term with each fixed term in it that is worth it replaced by a read of its value.
  ExprPtr WithoutFixed(const ExprPtr& term, Node& node, Definition& definition,
                       PerTerm<ExprPtr>& known, bool* changed) {
    if (WorthMoving(term, node, definition)) {
      *changed = true;
      return Hoisted(term, node, definition);
    }
    std::vector<ExprPtr> args;
    bool other = false;
    for (const ExprPtr& arg : term->args) {
      args.push_back(
          known.Of(arg, [&] { return WithoutFixed(arg, node, definition, known, changed); }));
      other |= args.back() != arg;
    }
    if (!other) return term;
    auto copy = std::make_shared<Expr>(*term);
    copy->args = std::move(args);
    return copy;
  }

  bool WorthMoving(const ExprPtr& term, const Node& node, const Definition& definition) const {
    if (term->kind != Expr::kCall) return false;
    std::vector<Interval> ranges;
    for (const Index& index : definition.indices) ranges.push_back({0, index.extent});
    bool fixed = true, takes_time = false;
    int64_t largest = 0;  // elements of what it reads
    Walk(term, [&](const Expr& expr) {
      takes_time |= expr.kind == Expr::kCall && FactsOf(expr.function).slow;
      if (expr.kind != Expr::kRead) return;
      fixed = fixed && fixed_[node.operands[expr.operand]] && expr.args.empty();
      const TensorType& type = definition.operands[expr.operand];
      largest = std::max(largest, ElementCount(type));
      // A branch may keep it from reading outside the tensor.
      for (size_t d = 0; d < expr.position.size() && fixed; ++d) {
        fixed = Interval{0, type.dims[d]}.Contains(Range(expr.position[d], ranges));
      }
    });
    if (!fixed || !takes_time) return false;
    const ElementType type = TypeOf(*term, definition.operands);
    if (IsFloat(type) && ByteSize(type) < 4) return false;
    int64_t elements = 1, points = 1;
    const std::vector<int> indices = IndicesOf(term);
    for (const int index : indices) elements *= definition.indices[index].extent;
    for (const Index& index : definition.indices) points *= index.extent;
    return elements < points && elements <= std::max(largest, kMostHoisted);
  }

  static std::vector<int> IndicesOf(const ExprPtr& term) {
    std::set<int> indices;
    const auto add = [&](const Affine& affine) {
      for (const auto& [index, coefficient] : affine.terms) indices.insert(index);
    };
    Walk(term, [&](const Expr& expr) {
      if (expr.kind == Expr::kIndex) add(expr.affine);
      for (const Affine& position : expr.position) add(position);
    });
    return {indices.begin(), indices.end()};
  }

  // A read of the term's value, which a node of `init` computes.
  ExprPtr Hoisted(const ExprPtr& term, Node& node, Definition& definition) {
    const std::vector<int> indices = IndicesOf(term);
    Definition moved;
    moved.name = "fixed";
    moved.operands = definition.operands;
    moved.result.type = TypeOf(*term, definition.operands);
    std::vector<Affine> renamed(definition.indices.size());
    std::vector<Affine> position;
    for (const int index : indices) {
      renamed[index] = IndexAffine(static_cast<int>(moved.indices.size()));
      moved.left.push_back(renamed[index]);
      moved.result.dims.push_back(definition.indices[index].extent);
      moved.indices.push_back({definition.indices[index].name, moved.result.dims.back(), false});
      position.push_back(IndexAffine(index));
    }
    std::vector<int> operands(definition.operands.size());
    for (size_t o = 0; o < operands.size(); ++o) operands[o] = static_cast<int>(o);
    moved.body = Substitute(term, renamed, operands);
    Node init;
    init.op = node.op;
    init.from = node.from;
    init.instance = node.instance;
    init.operands = node.operands;
    NormalizeOperands(init.operands, moved);
    ShareTerms(moved);
    const ExprPtr read = ReadExpr(static_cast<int>(definition.operands.size()), std::move(position),
                                  moved.result.type);
    definition.operands.push_back(moved.result);
    node.operands.push_back(ResultOf(std::move(init), std::move(moved), node.name));
    return read;
  }

  // The tensor that a node of `init` computes: equal terms have one.
  TensorId ResultOf(Node init, Definition definition, const std::string& reader) {
    const std::string key =
        absl::StrCat(ToString(definition), " of ", absl::StrJoin(init.operands, " "));
    const auto [known, is_new] = known_.emplace(key, static_cast<TensorId>(graph_.tensors.size()));
    if (!is_new) return known->second;
    Tensor tensor;
    tensor.name = absl::StrCat(reader, "/fixed");
    for (int i = 2; !names_.insert(tensor.name).second; ++i) {
      tensor.name = absl::StrCat(reader, "/fixed#", i);
    }
    tensor.type = definition.result;
    for (const int64_t extent : definition.result.dims) tensor.dims.push_back({extent});
    init.name = tensor.name;
    init.result = known->second;
    init.definition = std::make_shared<const Definition>(std::move(definition));
    graph_.tensors.push_back(std::move(tensor));
    fixed_.push_back(true);
    MakeState(known->second);
    init_.push_back(std::move(init));
    return known->second;
  }

  Model& model_;
  Graph& graph_;
  std::vector<bool> fixed_;  // [tensor]: it never changes
  std::set<std::string> names_;
  std::map<std::string, TensorId> known_;
  std::vector<Node> init_;
};

}  // namespace

void MoveInvariantsToInit(Model& model) { Mover(model).Move(); }

}  // namespace yuba::compiler
