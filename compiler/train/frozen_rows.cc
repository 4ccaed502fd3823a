#include "compiler/train/frozen_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/names.h"

namespace yuba::compiler {
namespace {

// The tensor with 0 in these rows; its first dimension has `factors`.
Definition WithoutRows(const TensorType& type, const std::vector<int64_t>& factors,
                       const std::vector<int64_t>& rows) {
  Definition definition = IdentityOf(type, "y");
  Affine row;
  for (size_t f = 0; f < factors.size(); ++f)
    row = row * factors[f] + IndexAffine(static_cast<int>(f));
  const ExprPtr zero = LiteralExpr(type.type, 0, 0.0);
  for (const int64_t frozen : rows) {
    const ExprPtr is =
        CallExpr(Function::kEq, {IndexExpr(row), LiteralExpr(ElementType::kI64, frozen, 0.0)},
                 ElementType::kBool);
    definition.body = CallExpr(Function::kSelect, {is, zero, definition.body}, type.type);
  }
  return definition;
}

absl::StatusOr<std::vector<int64_t>> RowsOf(const FrozenRows& frozen, const Tensor& table) {
  int64_t extent = table.dims.empty() ? 0 : 1;
  for (const int64_t factor : table.dims.empty() ? std::vector<int64_t>() : table.dims[0])
    extent *= factor;
  std::vector<int64_t> rows;
  for (const int64_t row : frozen.rows) {
    if (row < -extent || row >= extent) {
      return UserError("--freeze-rows ", frozen.table, "=", row, ": it has ", extent, " rows");
    }
    rows.push_back(row < 0 ? row + extent : row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// The result of a new node of the last entry that reads the gradient alone.
TensorId AddNode(Graph& graph, Definition definition, TensorId gradient) {
  Tensor tensor = graph.tensors[gradient];
  tensor.name = GraphNames(graph).Fresh(absl::StrCat("without_rows(", tensor.name, ")"));
  tensor.kind = TensorKind::kActivation;
  tensor.producers.clear();
  tensor.consumers.clear();
  tensor.producer = static_cast<NodeId>(graph.nodes.size());
  Node node;
  node.name = tensor.name;
  node.op = "without_rows";
  node.from = absl::StrCat("--freeze-rows of ", graph.tensors[gradient].name);
  for (const Node& other : graph.nodes) node.instance = std::max(node.instance, other.instance + 1);
  node.entry = static_cast<int>(graph.entries.size()) - 1;
  node.definition = std::make_shared<const Definition>(std::move(definition));
  node.operands = {gradient};
  node.result = static_cast<TensorId>(graph.tensors.size());
  graph.tensors.push_back(std::move(tensor));
  graph.nodes.push_back(std::move(node));
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

}  // namespace

absl::Status FreezeRows(Model& model, const std::vector<FrozenRows>& frozen,
                        const std::vector<TensorId>& trained, std::vector<TensorId>& gradients) {
  Graph& graph = model.graph;
  for (const FrozenRows& one : frozen) {
    const auto found = std::find_if(trained.begin(), trained.end(), [&](TensorId tensor) {
      return graph.tensors[tensor].name == one.table;
    });
    if (found == trained.end()) {
      for (const auto& [name, form] : model.forms) {
        if (!IsCalled(form, one.table)) continue;
        return UserError("--freeze-rows ", one.table, ": the file has it as '", name,
                         "', whose rows are others");
      }
      return UserError("--freeze-rows ", one.table, ": nothing that is trained has that name");
    }
    const Tensor& table = graph.tensors[*found];
    YUBA_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, RowsOf(one, table));
    TensorId& gradient = gradients[static_cast<size_t>(found - trained.begin())];
    const TensorType type = graph.tensors[gradient].type;
    gradient = AddNode(graph, WithoutRows(type, table.dims[0], rows), gradient);
  }
  if (!frozen.empty()) Link(graph);
  return absl::OkStatus();
}

}  // namespace yuba::compiler
