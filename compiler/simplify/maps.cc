// ComposeMaps of simplify.h.
#include <algorithm>

#include "compiler/simplify/compose.h"
#include "compiler/simplify/remove_nodes.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

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
  MapComposer(Model& model, Gradients gradients)
      : graph_(model.graph), gradients_(gradients), dead_(graph_.nodes.size(), false) {}

  void Compose() {
    Link(graph_);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& map = graph_.nodes[id];
      if (!IsMap(*map.definition) || graph_.tensors[map.result].output || Ends(map)) continue;
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
    RemoveNodes(dead_, graph_);
  }

 private:
  bool Ends(const Node& node) const {
    return gradients_ == Gradients::kToCome && EndsGradients(graph_, node);
  }

  // Whether the map may become part of `reader`. A map that reads nothing (`constant`) may be
  // computed several times.
  bool CanInline(const Definition& reader, int operand, bool constant) const {
    if (!IsMap(reader)) return false;
    if (!constant) return ReadsEachOnce(reader, operand);
    bool plain = true;
    VisitReads(reader, operand, [&](const Expr& read) { plain &= read.args.empty(); });
    return plain;
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
    const Node& reader = graph_.nodes[reader_id];
    if (Ends(reader)) return false;
    const TensorId result = graph_.nodes[map_id].result;
    const int operand =
        static_cast<int>(std::find(reader.operands.begin(), reader.operands.end(), result) -
                         reader.operands.begin());
    if (!(widens && CanWiden(*reader.definition, operand)) &&
        !CanInline(*reader.definition, operand, constant)) {
      return false;
    }
    if (!ComposeInto(graph_, map_id, reader_id)) return false;
    for (const TensorId read : graph_.nodes[map_id].operands)
      MoveConsumer(graph_.tensors[read].consumers, map_id, reader_id);
    return true;
  }

  static void MoveConsumer(std::vector<NodeId>& consumers, NodeId from, NodeId to) {
    consumers.erase(std::remove(consumers.begin(), consumers.end(), from), consumers.end());
    const auto at = std::lower_bound(consumers.begin(), consumers.end(), to);
    if (at == consumers.end() || *at != to) consumers.insert(at, to);
  }

  Graph& graph_;
  const Gradients gradients_;
  std::vector<bool> dead_;
};

}  // namespace

void ComposeMaps(Model& model, Gradients gradients) { MapComposer(model, gradients).Compose(); }

}  // namespace yuba::compiler
