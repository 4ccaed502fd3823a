#include "compiler/simplify/compose.h"

#include <algorithm>
#include <utility>

#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// Distinct terms of a composed body: what a kernel keeps in registers, and what a person still
// reads.
constexpr int kLargestBody = 64;

}  // namespace

bool ReadsEachOnce(const Definition& reader, int operand) {
  bool once = true;
  VisitReads(reader, operand, [&](const Expr& read) {
    once &= read.args.empty();
    std::vector<bool> used(reader.indices.size(), false);
    for (size_t d = 0; d < read.position.size(); ++d) {
      const int index = read.position[d].BareIndex();
      if (index >= 0 && !used[index])
        used[index] = true;
      else
        once &= read.position[d].IsConstant() && reader.operands[operand].dims[d] == 1;
    }
    once &= std::find(used.begin(), used.end(), false) == used.end();
  });
  return once;
}

bool ComposeInto(Graph& graph, NodeId map_id, NodeId reader_id) {
  const Node& map = graph.nodes[map_id];
  Node& reader = graph.nodes[reader_id];
  const int operand =
      static_cast<int>(std::find(reader.operands.begin(), reader.operands.end(), map.result) -
                       reader.operands.begin());
  Definition definition = *reader.definition;
  std::vector<TensorId> operands = reader.operands;
  std::vector<int> renamed;  // [operand of the map]: its position behind the reader's operands
  for (size_t k = 0; k < map.operands.size(); ++k) {
    renamed.push_back(static_cast<int>(operands.size()));
    operands.push_back(map.operands[k]);
    definition.operands.push_back(map.definition->operands[k]);
  }
  RewriteReads(definition, [&](const Expr& read) -> ExprPtr {
    if (read.operand != operand) return nullptr;
    std::vector<Affine> indices(map.definition->indices.size());
    for (size_t d = 0; d < read.position.size(); ++d) {
      const int index = map.definition->left[d].BareIndex();
      if (index >= 0) indices[index] = read.position[d];
    }
    return Substitute(map.definition->body, indices, renamed);
  });
  Node composed = reader;
  composed.operands = std::move(operands);
  NormalizeOperands(composed.operands, definition);
  if (DistinctTerms(definition.body) > kLargestBody) return false;
  composed.definition = std::make_shared<const Definition>(std::move(definition));
  reader = std::move(composed);
  return true;
}

bool EndsGradients(const Graph& graph, const Node& node) {
  if (!node.definition->nograd || !MatchView(*node.definition).has_value()) return false;
  const NodeId producer = graph.tensors[node.operands[0]].producer;
  return producer < 0 || !graph.nodes[producer].definition->nograd;
}

}  // namespace yuba::compiler
