// ComposeMaps of simplify.h.
#include <algorithm>

#include "compiler/simplify/simplify.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// Distinct terms of a composed body: what a kernel keeps in registers, and what a person still
// reads.
constexpr int kLargestBody = 64;

// Whether the value reads something else than what random numbers are made of.
bool ReadsTensors(const Expr& expr) {
  if (expr.kind == Expr::kCall && expr.function == Function::kRandom) return false;
  return expr.kind == Expr::kRead ||
         std::any_of(expr.args.begin(), expr.args.end(),
                     [](const ExprPtr& arg) { return ReadsTensors(*arg); });
}

// Whether the map only makes floats wider, which loses nothing and takes next to no time.
bool Widens(const Definition& map) {
  const Expr& body = *map.body;
  if (!IsMap(map) || body.kind != Expr::kCall || body.function != Function::kCast) return false;
  const Expr& read = *body.args[0];
  return read.kind == Expr::kRead && read.args.empty() && IsFloat(read.type) &&
         IsFloat(body.type) && ByteSize(body.type) > ByteSize(read.type);
}

class MapComposer {
 public:
  explicit MapComposer(Model& model) : graph_(model.graph), dead_(graph_.nodes.size(), false) {}

  void Compose() {
    Link(graph_);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& map = graph_.nodes[id];
      if (!IsMap(*map.definition) || graph_.tensors[map.result].output) continue;
      const std::vector<NodeId> readers = graph_.tensors[map.result].consumers;
      const bool constant = map.operands.empty();
      // Random numbers are drawn again by each reader, which gets the same: they are not stored.
      const bool widens = Widens(*map.definition);
      const bool repeatable = constant || widens || !ReadsTensors(*map.definition->body);
      bool all = !readers.empty() && (repeatable || readers.size() == 1);
      for (size_t r = 0; r < readers.size() && (all || repeatable); ++r)
        all &= TryInline(id, readers[r], constant, widens);
      dead_[id] = all;
    }
    std::vector<Node> nodes;
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (!dead_[id]) nodes.push_back(std::move(graph_.nodes[id]));
    }
    graph_.nodes = std::move(nodes);
    Link(graph_);
  }

 private:
  // Whether the map may become part of `reader`: one point of the reader reads each element, by
  // bare indices, without `else`, with every output index among them. A map that reads nothing
  // (`constant`) may be computed several times.
  bool CanInline(const Definition& reader, int operand, bool constant) const {
    if (!IsMap(reader)) return false;
    bool possible = true;
    VisitReads(reader, operand, [&](const Expr& read) {
      possible &= read.args.empty();
      std::vector<bool> used(reader.indices.size(), false);
      for (size_t d = 0; d < read.position.size(); ++d) {
        const int index = read.position[d].BareIndex();
        if (index >= 0 && !used[index])
          used[index] = true;
        else
          possible &=
              constant || (read.position[d].IsConstant() && reader.operands[operand].dims[d] == 1);
      }
      if (!constant) possible &= std::find(used.begin(), used.end(), false) == used.end();
    });
    return possible;
  }

  // Whether what `reader` reads may be made wider as it is read: library calls need the reads of a
  // sum of products plain.
  bool CanWiden(const Definition& reader, int operand) const {
    if (IsSumOfProducts(reader) || reader.reducer == Reducer::kOpaque) return false;
    bool plain = true;
    VisitReads(reader, operand, [&](const Expr& read) { plain &= read.args.empty(); });
    return plain;
  }

  bool TryInline(NodeId map_id, NodeId reader_id, bool constant, bool widens) {
    const Node& map = graph_.nodes[map_id];
    Node& reader = graph_.nodes[reader_id];
    const int operand =
        static_cast<int>(std::find(reader.operands.begin(), reader.operands.end(), map.result) -
                         reader.operands.begin());
    if (!(widens && CanWiden(*reader.definition, operand)) &&
        !CanInline(*reader.definition, operand, constant)) {
      return false;
    }
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
    for (const TensorId read : map.operands)
      Replace(graph_.tensors[read].consumers, map_id, reader_id);
    return true;
  }

  static void Replace(std::vector<NodeId>& consumers, NodeId from, NodeId to) {
    consumers.erase(std::remove(consumers.begin(), consumers.end(), from), consumers.end());
    const auto at = std::lower_bound(consumers.begin(), consumers.end(), to);
    if (at == consumers.end() || *at != to) consumers.insert(at, to);
  }

  Graph& graph_;
  std::vector<bool> dead_;
};

}  // namespace

void ComposeMaps(Model& model) { MapComposer(model).Compose(); }

}  // namespace yuba::compiler
