#include "search/rewrite/accumulators.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/names.h"
#include "opsemantics/definition/shared_terms.h"
#include "search/plan/choice_space.h"

namespace yuba::search {
namespace {

using DefinitionPtr = std::shared_ptr<const Definition>;

// A sum in a body: the terms that can meet in an accumulator. They have equal types and are read at
// equal positions.
struct Sum {
  std::vector<int> operands;  // the operand that each term reads
  ExprPtr read;               // the read that is the first term
};

bool IsAdd(const Expr& expr) {
  return expr.kind == Expr::kCall && expr.function == Function::kAdd && expr.args.size() == 2;
}

class Accumulating {
 public:
  Accumulating(const Graph& graph, const Mesh& mesh)
      : graph_(graph), mesh_(mesh), result_(graph), names_(graph) {}

  Graph Run() {
    std::vector<Node> nodes;
    for (const Node& node : graph_.nodes) Split(node, &nodes);
    for (Node& node : nodes) node.definition = DefinitionOf(node);
    result_.nodes = std::move(nodes);
    Link(result_);
    CheckGraph(result_);
    return std::move(result_);
  }

 private:
  DefinitionPtr DefinitionOf(const Node& node) {
    if (result_.tensors[node.result].kind != TensorKind::kPartial) return node.definition;
    DefinitionPtr& partials = partials_[node.definition.get()];
    if (partials == nullptr) {
      Definition definition = *node.definition;
      definition.partial = true;
      partials = std::make_shared<const Definition>(std::move(definition));
    }
    return partials;
  }

  bool CanBePartials(TensorId id) const {
    if (id >= static_cast<TensorId>(graph_.tensors.size())) return false;  // an accumulator's
    const Tensor& tensor = graph_.tensors[id];
    if (tensor.output || IsStored(tensor.kind) || tensor.consumers.size() != 1) return false;
    const Definition& producer = *graph_.nodes[tensor.producer].definition;
    const bool can_be_cut = std::any_of(tensor.type.dims.begin(), tensor.type.dims.end(),
                                        [](int64_t dim) { return dim > 1; });
    return producer.reducer == Reducer::kSum && !producer.partial &&
           producer.partial_operands.empty() &&
           AccumulatorType(tensor.type.type) == tensor.type.type && can_be_cut &&
           UsesAllAxes(SpaceOfNode(producer), mesh_);
  }

  // The leaves of a sum that read an operand which can be partials and which the whole body reads
  // only there. `reads`: [operand], how often the body reads it.
  void Terms(const ExprPtr& expr, const Node& node, const std::vector<int64_t>& reads,
             std::vector<ExprPtr>* terms, absl::flat_hash_set<const Expr*>* seen) const {
    if (!seen->insert(expr.get()).second) return;  // what it reads is read twice
    if (IsAdd(*expr)) {
      for (const ExprPtr& arg : expr->args) Terms(arg, node, reads, terms, seen);
    } else if (expr->kind == Expr::kRead && expr->args.empty() && reads[expr->operand] == 1 &&
               CanBePartials(node.operands[expr->operand])) {
      terms->push_back(expr);
    }
  }

  // The first sum below `expr` in which at least two such terms (Terms) are alike; false if none.
  // `seen`: the nodes below which there is none.
  bool Find(const ExprPtr& expr, const Node& node, const std::vector<int64_t>& reads, Sum* sum,
            absl::flat_hash_set<const Expr*>* seen) const {
    if (!seen->insert(expr.get()).second) return false;
    if (IsAdd(*expr)) {
      std::vector<ExprPtr> terms;
      absl::flat_hash_set<const Expr*> in_sum;
      Terms(expr, node, reads, &terms, &in_sum);
      const auto alike = [&](const ExprPtr& a, const ExprPtr& b) {
        return a->position == b->position &&
               node.definition->operands[a->operand] == node.definition->operands[b->operand];
      };
      for (const ExprPtr& first : terms) {
        sum->operands.clear();
        sum->read = first;
        for (const ExprPtr& term : terms) {
          if (alike(first, term)) sum->operands.push_back(term->operand);
        }
        if (sum->operands.size() > 1) return true;
      }
    }
    return std::any_of(expr->args.begin(), expr->args.end(),
                       [&](const ExprPtr& arg) { return Find(arg, node, reads, sum, seen); });
  }

  // Appends the node, after the accumulators that can be taken from its body.
  void Split(Node node, std::vector<Node>* nodes) {
    while (true) {
      const Definition& definition = *node.definition;
      std::vector<int64_t> reads(node.operands.size(), 0);
      for (const Occurrence& term : Occurrences(definition.body)) {
        if (term.node->kind == Expr::kRead && reads[term.node->operand] < 2)
          reads[term.node->operand] += term.times;
      }
      Sum sum;
      absl::flat_hash_set<const Expr*> seen;
      const bool found =
          definition.reducer == Reducer::kNone && Find(definition.body, node, reads, &sum, &seen);
      if (!found) break;
      nodes->push_back(AddAccumulator(node, sum));
      const TensorId accumulator = nodes->back().result;
      Node rest = WithoutTerms(node, sum, accumulator);
      if (IsIdentity(*rest.definition)) {  // the map is the sum alone: its result is the sum's
        result_.tensors.pop_back();
        nodes->back().result = node.result;
        nodes->back().name = node.name;
        return;
      }
      node = std::move(rest);
    }
    nodes->push_back(std::move(node));
  }

  Node AddAccumulator(const Node& node, const Sum& sum) {
    Node accumulator;
    accumulator.name = names_.Fresh(absl::StrCat("acc(", node.name, ")"));
    accumulator.op = "accumulate";
    accumulator.from = node.from;
    accumulator.instance = node.instance;
    accumulator.entry = node.entry;
    accumulator.definition =
        SumOf(node.definition->operands[sum.operands[0]], static_cast<int>(sum.operands.size()));
    for (int operand : sum.operands) {
      accumulator.operands.push_back(node.operands[operand]);
      result_.tensors[node.operands[operand]].kind = TensorKind::kPartial;
    }
    Tensor tensor = graph_.tensors[node.operands[sum.operands[0]]];
    tensor.name = accumulator.name;
    accumulator.result = static_cast<TensorId>(result_.tensors.size());
    result_.tensors.push_back(std::move(tensor));
    return accumulator;
  }

  DefinitionPtr SumOf(const TensorType& type, int terms) {
    for (const DefinitionPtr& known : sums_) {
      if (known->result == type && static_cast<int>(known->operands.size()) == terms) return known;
    }
    sums_.push_back(std::make_shared<const Definition>(AccumulatorOf(type, terms)));
    return sums_.back();
  }

  // The node with a read of `accumulator` in place of the first term, and without the others.
  Node WithoutTerms(const Node& node, const Sum& sum, TensorId accumulator) {
    Definition definition = *node.definition;
    Node rest = node;
    definition.operands.clear();
    rest.operands.clear();
    std::vector<int> number(node.operands.size(), -1);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const bool term =
          std::count(sum.operands.begin(), sum.operands.end(), static_cast<int>(o)) > 0;
      if (term && static_cast<int>(o) != sum.read->operand) continue;
      number[o] = static_cast<int>(rest.operands.size());
      rest.operands.push_back(term ? accumulator : node.operands[o]);
      definition.operands.push_back(node.definition->operands[o]);
    }
    DefinitionPtr& known = rests_[{node.definition.get(), number}];
    if (known == nullptr) {
      PerTerm<ExprPtr> renumbered;
      definition.body = Renumbered(node.definition->body, number, renumbered);
      known = std::make_shared<const Definition>(std::move(definition));
    }
    rest.definition = known;
    return rest;
  }

  // `expr` with each read of operand o turned into a read of number[o]. Null for a read of an
  // operand whose number is -1; a sum one of whose terms is null becomes the other term.
  static ExprPtr Renumbered(const ExprPtr& expr, const std::vector<int>& number,
                            PerTerm<ExprPtr>& known) {
    return known.Of(expr, [&]() -> ExprPtr {
      if (expr->kind == Expr::kRead && number[expr->operand] < 0) return nullptr;
      auto renumbered = std::make_shared<Expr>(*expr);
      if (expr->kind == Expr::kRead) renumbered->operand = number[expr->operand];
      renumbered->args.clear();
      for (const ExprPtr& arg : expr->args) {
        if (ExprPtr term = Renumbered(arg, number, known))
          renumbered->args.push_back(std::move(term));
      }
      if (!IsAdd(*expr) || renumbered->args.size() == 2) return renumbered;
      return renumbered->args.empty() ? nullptr : renumbered->args[0];
    });
  }

  const Graph& graph_;
  const Mesh& mesh_;
  Graph result_;
  GraphNames names_;
  std::map<const Definition*, DefinitionPtr> partials_;  // by the definition without `partial`
  std::map<std::pair<const Definition*, std::vector<int>>, DefinitionPtr> rests_;
  std::vector<DefinitionPtr> sums_;
};

}  // namespace

Graph WithAccumulators(const Graph& graph, const Mesh& mesh) {
  return Accumulating(graph, mesh).Run();
}

bool HasAccumulators(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), IsAccumulator);
}

}  // namespace yuba::search
