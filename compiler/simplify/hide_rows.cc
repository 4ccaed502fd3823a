// HideUnusedRows of simplify.h.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/names.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// The scores, where row number `row` of a cache holds something, that is, lies before the count
// (operand 1) and the new rows; else -inf.
Definition HidingDefinition(const TensorType& scores, const Affine& row, int64_t new_rows) {
  Definition definition = IdentityOf(scores, "shown");
  const ExprPtr score = definition.body;
  definition.operands.push_back({ElementType::kI64, {}});
  const double lowest = -std::numeric_limits<double>::infinity();
  const ExprPtr used =
      CallExpr(Function::kAdd,
               {ReadExpr(1, {}, ElementType::kI64), LiteralExpr(ElementType::kI64, new_rows, 0)},
               ElementType::kI64);
  const ExprPtr shown = CallExpr(Function::kLt, {IndexExpr(row), used}, ElementType::kBool);
  definition.body =
      CallExpr(Function::kSelect, {shown, score, LiteralExpr(scores.type, 0, lowest)}, scores.type);
  ShareTerms(definition);
  return definition;
}

// Where the rows of a cache are in a tensor: [flat dimension] how many rows one step along it is;
// 0: the dimension has no part in their number.
using Strides = std::vector<int64_t>;

class Hider {
 public:
  Hider(Model& model, const CachedRows& rows)
      : graph_(model.graph), names_(model.graph), rows_(rows) {
    const Tensor& tensor = graph_.tensors[rows.tensor];
    Strides strides(tensor.type.dims.size(), 0);
    size_t flat = 0;
    for (int d = 0; d < rows.dim; ++d) flat += tensor.dims[d].size();
    int64_t stride = 1;
    for (size_t f = tensor.dims[rows.dim].size(); f-- > 0;) {
      if (tensor.type.dims[flat + f] > 1) strides[flat + f] = stride;
      stride *= tensor.type.dims[flat + f];
    }
    tracked_[rows.tensor] = strides;
  }

  absl::Status Hide() {
    std::vector<Node> nodes;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      Node node = graph_.nodes[id];
      absl::optional<Node> hiding;
      if (node.entry == rows_.entry) YUBA_RETURN_IF_ERROR(Visit(node, hiding));
      nodes.push_back(std::move(node));
      if (hiding.has_value()) nodes.push_back(*std::move(hiding));
    }
    graph_.nodes = std::move(nodes);
    Link(graph_);
    return absl::OkStatus();
  }

 private:
  // Follows the rows through the node. Where it makes scores of them it writes these to a new
  // tensor, and `hiding` computes its result from that.
  absl::Status Visit(Node& node, absl::optional<Node>& hiding) {
    const Definition& definition = *node.definition;
    absl::optional<Strides> along;  // [index]
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const auto tracked = tracked_.find(node.operands[o]);
      if (tracked == tracked_.end() || node.result == rows_.tensor) continue;
      YUBA_ASSIGN_OR_RETURN(const Strides here,
                            StridesOfIndices(node, static_cast<int>(o), tracked->second));
      if (along.has_value() && *along != here) return OtherUse(node);
      along = here;
    }
    if (!along.has_value()) return absl::OkStatus();
    Strides result(definition.left.size(), 0);
    bool left = false, right = false;  // whether output or reduction indices number the rows
    for (size_t i = 0; i < along->size(); ++i) {
      if ((*along)[i] == 0) continue;
      (definition.indices[i].reduction ? right : left) = true;
      for (size_t d = 0; d < result.size(); ++d) {
        if (definition.left[d].BareIndex() == static_cast<int>(i)) result[d] = (*along)[i];
      }
    }
    if (left && right) return OtherUse(node);
    if (right) {
      // A product with shares of rows, which are 0 for those that are hidden.
      const bool shares = MatchContraction(definition).has_value();
      return shares ? absl::OkStatus() : OtherUse(node);
    }
    if (definition.reducer == Reducer::kNone || OnlyRows(node)) {
      tracked_[node.result] = result;
    } else {
      hiding = HidingNode(node, result);
    }
    return absl::OkStatus();
  }

  // [index of the node]: how many rows a step of it is along.
  absl::StatusOr<Strides> StridesOfIndices(const Node& node, int operand, const Strides& strides) {
    const Definition& definition = *node.definition;
    Strides along(definition.indices.size(), 0);
    bool known = true;
    VisitReads(definition, operand, [&](const Expr& read) {
      for (size_t d = 0; d < strides.size(); ++d) {
        if (strides[d] == 0) continue;
        const int index = read.position[d].BareIndex();
        known = known && index >= 0 && (along[index] == 0 || along[index] == strides[d]);
        if (index >= 0) along[index] = strides[d];
      }
    });
    if (!known) return OtherUse(node);
    return along;
  }

  absl::Status OtherUse(const Node& node) const {
    return UserError("node ", node.from.empty() ? node.name : node.from,
                     " uses the rows of a cache of --cache in a way in which those that hold ",
                     "nothing cannot be hidden");
  }

  // Whether it reads nothing but the rows: a norm of each.
  bool OnlyRows(const Node& node) const {
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](TensorId t) { return tracked_.count(t) > 0; });
  }

  Node HidingNode(Node& node, const Strides& strides) {
    const TensorId result = node.result;
    Tensor all = graph_.tensors[result];
    all.name = names_.Fresh(absl::StrCat(all.name, "/all_rows"));
    all.kind = TensorKind::kActivation;
    all.output = false;
    const auto id = static_cast<TensorId>(graph_.tensors.size());
    Affine row;
    for (size_t d = 0; d < strides.size(); ++d) {
      if (strides[d] != 0) row = row + IndexAffine(static_cast<int>(d)) * strides[d];
    }
    Node hiding;
    hiding.name = node.name;
    hiding.op = "hide_rows";
    hiding.from = node.from;
    hiding.instance = node.instance;
    hiding.entry = node.entry;
    hiding.operands = {id, rows_.count};
    hiding.result = result;
    hiding.definition =
        std::make_shared<const Definition>(HidingDefinition(all.type, row, rows_.new_rows));
    node.name = all.name;
    node.result = id;
    graph_.tensors.push_back(std::move(all));
    return hiding;
  }

  Graph& graph_;
  GraphNames names_;
  const CachedRows& rows_;
  std::map<TensorId, Strides> tracked_;  // tensors that have the rows
};

}  // namespace

absl::Status HideUnusedRows(Model& model, const std::vector<CachedRows>& caches) {
  for (const CachedRows& rows : caches) {
    YUBA_RETURN_IF_ERROR(Hider(model, rows).Hide());
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
