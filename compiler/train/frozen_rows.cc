#include "compiler/train/frozen_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/train/added_nodes.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/make_expr.h"

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

absl::StatusOr<std::vector<int64_t>> RowsOf(const std::vector<int64_t>& frozen,
                                            const Tensor& table) {
  int64_t extent = table.dims.empty() ? 0 : 1;
  for (const int64_t factor : table.dims.empty() ? std::vector<int64_t>() : table.dims[0])
    extent *= factor;
  std::vector<int64_t> rows;
  for (const int64_t row : frozen) {
    if (row < -extent || row >= extent) {
      return UserError("--freeze ", table.name, "=", row, ": it has ", extent,
                       " rows: name rows from ", -extent, " to ", extent - 1);
    }
    rows.push_back(row < 0 ? row + extent : row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace

absl::Status FreezeRows(Model& model, const std::map<std::string, std::vector<int64_t>>& frozen,
                        const std::vector<TensorId>& trained, std::vector<TensorId>& gradients) {
  Graph& graph = model.graph;
  AddedNodes nodes(model);
  for (const auto& one : frozen) {
    const std::string& named = one.first;
    const auto found = std::find_if(trained.begin(), trained.end(), [&](TensorId tensor) {
      return graph.tensors[tensor].name == named;
    });
    if (found == trained.end()) {
      for (const auto& [name, form] : model.forms) {
        if (!IsCalled(form, named)) continue;
        return UserError("--freeze ", named, ": the file has it as '", name,
                         "', whose rows are others");
      }
      return UserError("--freeze ", named, "=", absl::StrJoin(one.second, ","),
                       ": nothing that is trained is called ", named,
                       "; name a trained table, or leave it out");
    }
    const Tensor& table = graph.tensors[*found];
    YUBA_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, RowsOf(one.second, table));
    TensorId& gradient = gradients[static_cast<size_t>(found - trained.begin())];
    const std::string name = graph.tensors[gradient].name;
    Definition without = WithoutRows(graph.tensors[gradient].type, table.dims[0], rows);
    gradient = nodes.Add("without_rows", absl::StrCat("--freeze of ", name), std::move(without),
                         {gradient}, absl::StrCat("without_rows(", name, ")"), gradient);
  }
  if (!frozen.empty()) Link(graph);
  return absl::OkStatus();
}

}  // namespace yuba::compiler
