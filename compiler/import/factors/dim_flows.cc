#include "compiler/import/factors/dim_flows.h"

#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_set.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::onnx {
namespace {

const char* DoesAlong(const Definition& definition) {
  switch (definition.reducer) {
    case Reducer::kSum: return "adds up along";
    case Reducer::kPick: return "picks elements along";
    default: return "reduces along";
  }
}

}  // namespace

DimFlows::DimFlows(const Graph& graph, const std::vector<bool>& followed,
                   const std::vector<bool>& free)
    : graph_(graph), free_(free) {
  int variables = 0;
  for (const Tensor& tensor : graph.tensors) {
    first_.push_back(variables);
    variables += static_cast<int>(tensor.type.dims.size());
  }
  for (const Node& node : graph.nodes) {
    first_index_.push_back(variables);
    variables += static_cast<int>(node.definition->indices.size());
  }
  for (int v = 0; v < variables; ++v) parent_.push_back(v);
  const auto nodes = static_cast<NodeId>(graph.nodes.size());
  for (NodeId id = 0; id < nodes; ++id) {
    if (followed[id]) Follow(id);
  }
  for (NodeId id = 0; id < nodes; ++id) {
    if (followed[id]) NotePairs(id);
  }
  does_.resize(variables);
  part_.resize(variables);
  free_node_.resize(variables, -1);
  std::stable_sort(noted_.begin(), noted_.end(),
                   [](const Noted& a, const Noted& b) { return a.what.node < b.what.node; });
  for (const Noted& noted : noted_) {
    const int root = Root(noted.variable);
    if (free_[noted.what.node]) {
      if (free_node_[root] < 0) free_node_[root] = noted.what.node;
      continue;
    }
    if (does_[root].node < 0) does_[root] = noted.what;
    if (noted.part && part_[root].node < 0) part_[root] = noted.what;
  }
}

int DimFlows::Of(TensorId tensor, int flat) const {
  if (graph_.tensors[tensor].type.dims[flat] == 1) return -1;
  return Root(first_[tensor] + flat);
}

const AlongDim& DimFlows::First(int dim, bool reads_part) const {
  return reads_part ? part_[dim] : does_[dim];
}

NodeId DimFlows::FirstFree(int dim) const { return free_node_[dim]; }

int DimFlows::Root(int variable) const {
  while (parent_[variable] != variable) variable = parent_[variable] = parent_[parent_[variable]];
  return variable;
}

void DimFlows::Join(int a, int b) {
  a = Root(a);
  b = Root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

void DimFlows::Note(NodeId id, int variable, const char* does, bool part) {
  noted_.push_back({variable, {id, does}, part});
}

void DimFlows::NoteTerms(NodeId id, const Affine& affine, const char* does) {
  for (const auto& [index, coefficient] : affine.terms)
    Note(id, first_index_[id] + index, does, false);
}

void DimFlows::Follow(NodeId id) {
  const Node& node = graph_.nodes[id];
  const Definition& definition = *node.definition;
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    const int index = static_cast<int>(i);
    const int variable = first_index_[id] + index;
    if (definition.indices[i].extent == 1) continue;
    if (IsOpaque(definition) && !MayBeCut(definition, index)) {
      Note(id, variable, "needs all elements at once along", false);
    } else if (definition.indices[i].reduction) {
      Note(id, variable, DoesAlong(definition), false);
    }
  }
  for (size_t d = 0; d < definition.left.size(); ++d) {
    const int64_t extent = definition.result.dims[d];
    const int index = definition.left[d].BareIndex(), variable = first_[node.result] + d;
    if (extent == 1) continue;
    if (index >= 0 && definition.indices[index].extent == extent) {
      Join(variable, first_index_[id] + index);
    } else {
      Note(id, variable, "writes only some elements along", false);
    }
  }
  for (size_t k = 0; k < node.operands.size(); ++k) {
    const int operand = static_cast<int>(k);
    VisitReads(definition, operand, [&](const Expr& read) { FollowRead(id, operand, read); });
  }
  for (const Constraint& constraint : definition.where)
    NoteTerms(id, constraint.expression, "compares places along");
  for (const DataCondition& condition : definition.data_where)
    NoteTerms(id, condition.index, "picks elements along");
  FollowIndices(id, definition.body);
}

void DimFlows::FollowRead(NodeId id, int operand, const Expr& read) {
  const Node& node = graph_.nodes[id];
  const Definition& definition = *node.definition;
  for (size_t d = 0; d < read.position.size(); ++d) {
    const int64_t extent = definition.operands[operand].dims[d];
    const Affine& position = read.position[d];
    const int index = position.BareIndex(), variable = first_[node.operands[operand]] + d;
    if (extent == 1) continue;
    if (index >= 0 && definition.indices[index].extent == extent) {
      Join(variable, first_index_[id] + index);
    } else if (position.IsConstant() || index >= 0) {
      Note(id, variable, "reads only some elements along", true);
    } else {
      const bool part = !Range(position, WholeRanges(definition)).Contains({0, extent});
      Note(id, variable, part ? "reads only some elements along" : "reads shifted places along",
           part);
      NoteTerms(id, position, "reads shifted places along");
    }
  }
}

// Indices whose values the body uses; which random number stands where is no such use.
void DimFlows::FollowIndices(NodeId id, const ExprPtr& body) {
  absl::flat_hash_set<const Expr*> seen;
  const std::function<void(const Expr&)> visit = [&](const Expr& expr) {
    if (!seen.insert(&expr).second) return;
    if (expr.kind == Expr::kIndex) NoteTerms(id, expr.affine, "depends on places along");
    const bool random = expr.kind == Expr::kCall && expr.function == Function::kRandom;
    for (size_t a = 0; a < expr.args.size(); ++a) {
      if (!random || a + 1 < expr.args.size()) visit(*expr.args[a]);
    }
  };
  visit(*body);
}

// Two indices of a node along one dimension: it compares or combines each element with each.
void DimFlows::NotePairs(NodeId id) {
  const std::vector<Index>& indices = graph_.nodes[id].definition->indices;
  for (size_t i = 0; i < indices.size(); ++i) {
    for (size_t j = i + 1; j < indices.size() && indices[i].extent > 1; ++j) {
      const int a = first_index_[id] + static_cast<int>(i);
      const int b = first_index_[id] + static_cast<int>(j);
      if (indices[j].extent > 1 && Root(a) == Root(b))
        Note(id, a, "combines each element with each along", false);
    }
  }
}

}  // namespace yuba::onnx
