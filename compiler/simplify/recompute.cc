// RecomputeMaps of simplify.h.
#include <algorithm>
#include <utility>

#include "compiler/simplify/compose.h"
#include "compiler/simplify/remove_nodes.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

class Recomputer {
 public:
  explicit Recomputer(Model& model) : graph_(model.graph), dead_(graph_.nodes.size(), false) {}

  void Run() {
    Link(graph_);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (!MayRecompute(id)) continue;
      const std::vector<NodeId>& readers = graph_.tensors[graph_.nodes[id].result].consumers;
      const bool by_all = std::all_of(readers.begin(), readers.end(),
                                      [&](NodeId reader) { return MayCompute(reader, id); });
      if (by_all && MovesNoMore(id) && HoldsNoMore(id)) dead_[id] = TryAll(id);
      if (!by_all) TrySome(id);
    }
    RemoveNodes(dead_, graph_);
  }

 private:
  int64_t BytesOf(TensorId tensor) const {
    const TensorType& type = graph_.tensors[tensor].type;
    return ElementCount(type) * ByteSize(type.type);
  }

  // Of an operand of the map; nothing where it is far smaller than the result, as the means that a
  // whole channel shares.
  int64_t BytesThatMatter(TensorId operand, const Node& map) const {
    constexpr int64_t kFarSmaller = 16;
    const int64_t bytes = BytesOf(operand);
    return bytes * kFarSmaller <= BytesOf(map.result) ? 0 : bytes;
  }

  // Whether the node is a map that readers might compute themselves. One that makes its operand
  // smaller (a cast to a narrower type, a slice) is stored, so that less is moved.
  bool MayRecompute(NodeId id) const {
    const Node& map = graph_.nodes[id];
    const Tensor& result = graph_.tensors[map.result];
    if (!IsMap(*map.definition) || IsOpaque(*map.definition) || result.output) return false;
    for (const TensorId operand : map.operands) {
      if (BytesOf(operand) > BytesOf(map.result)) return false;
    }
    return !result.consumers.empty();
  }

  bool MayCompute(NodeId reader, NodeId map) const {
    const Definition& definition = *graph_.nodes[reader].definition;
    return !IsOpaque(definition) &&
           ReadsEachOnce(definition, OperandOf(reader, graph_.nodes[map].result));
  }

  int OperandOf(NodeId reader, TensorId tensor) const {
    const std::vector<TensorId>& operands = graph_.nodes[reader].operands;
    return static_cast<int>(std::find(operands.begin(), operands.end(), tensor) - operands.begin());
  }

  // Whether the readers read at most as many bytes more as are read and written for the result that
  // is stored.
  bool MovesNoMore(NodeId id) const {
    const Node& map = graph_.nodes[id];
    const std::vector<NodeId>& readers = graph_.tensors[map.result].consumers;
    int64_t stored = BytesOf(map.result) * (1 + static_cast<int64_t>(readers.size()));
    int64_t recomputed = 0;
    for (const TensorId operand : map.operands) {
      stored += BytesThatMatter(operand, map);
      for (const NodeId reader : readers) {
        const std::vector<TensorId>& read = graph_.nodes[reader].operands;
        if (std::count(read.begin(), read.end(), operand) == 0)
          recomputed += BytesThatMatter(operand, map);
      }
    }
    return recomputed <= stored;
  }

  // Whether the operands that would live longer, until the last reader, are no larger than the
  // result that would not live at all.
  bool HoldsNoMore(NodeId id) const {
    const Node& map = graph_.nodes[id];
    const NodeId last = graph_.tensors[map.result].consumers.back();
    int64_t longer = 0;
    for (const TensorId operand : map.operands) {
      const Tensor& tensor = graph_.tensors[operand];
      if (!IsStored(tensor.kind) && tensor.consumers.back() < last)
        longer += BytesThatMatter(operand, map);
    }
    return longer <= BytesOf(map.result);
  }

  // Makes the map part of all its readers, or of none.
  bool TryAll(NodeId id) {
    const Node& map = graph_.nodes[id];
    const std::vector<NodeId> readers = graph_.tensors[map.result].consumers;
    std::vector<Node> before;
    for (const NodeId reader : readers) before.push_back(graph_.nodes[reader]);
    for (size_t r = 0; r < readers.size(); ++r) {
      if (ComposeInto(graph_, id, readers[r])) continue;
      for (size_t b = 0; b < r; ++b) graph_.nodes[readers[b]] = std::move(before[b]);
      return false;
    }
    for (const TensorId operand : map.operands) {
      AddConsumers(operand, readers);
      std::vector<NodeId>& consumers = graph_.tensors[operand].consumers;
      consumers.erase(std::find(consumers.begin(), consumers.end(), id));
    }
    return true;
  }

  void AddConsumers(TensorId tensor, const std::vector<NodeId>& readers) {
    std::vector<NodeId>& consumers = graph_.tensors[tensor].consumers;
    consumers.insert(consumers.end(), readers.begin(), readers.end());
    std::sort(consumers.begin(), consumers.end());
    consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
  }

  // Of a map that is stored for some readers, as products are: the others compute it themselves
  // where they read one large tensor for it in its place, which others read then or later. So
  // gradients behind y = max(scale * x + shift, 0) of a batch norm, which read x, do not read y.
  void TrySome(NodeId id) {
    const Node& map = graph_.nodes[id];
    TensorId large = -1;
    for (const TensorId operand : map.operands) {
      if (BytesThatMatter(operand, map) == 0) continue;
      if (large >= 0) return;
      large = operand;
    }
    if (large < 0) return;
    std::vector<NodeId> readers;
    for (const NodeId reader : graph_.tensors[map.result].consumers)
      if (MayCompute(reader, id)) readers.push_back(reader);
    const Tensor& read = graph_.tensors[large];
    if (readers.empty() || (!IsStored(read.kind) && read.consumers.back() < readers.back())) return;
    std::vector<NodeId> done;
    for (const NodeId reader : readers)
      if (ComposeInto(graph_, id, reader)) done.push_back(reader);
    for (const TensorId operand : map.operands) AddConsumers(operand, done);
    std::vector<NodeId>& consumers = graph_.tensors[map.result].consumers;
    for (const NodeId reader : done)
      consumers.erase(std::find(consumers.begin(), consumers.end(), reader));
  }

  Graph& graph_;
  std::vector<bool> dead_;
};

}  // namespace

void RecomputeMaps(Model& model) { Recomputer(model).Run(); }

}  // namespace yuba::compiler
