#include "compiler/order/live_bytes.h"

#include <algorithm>
#include <limits>

#include "opsemantics/base/element_type.h"

namespace yuba::compiler {

int64_t LiveBytes(const Graph& graph, TensorId tensor) {
  const Tensor& of = graph.tensors[tensor];
  if (IsStored(of.kind) || of.output) return 0;
  const int64_t most =
      std::numeric_limits<int64_t>::max() / static_cast<int64_t>(4 * graph.tensors.size());
  int64_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(ElementCount(of.type), ByteSize(of.type.type), &bytes);
  return overflows ? most : std::min(bytes, most);
}

int64_t PeakOfLiveBytes(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<size_t> waiting;  // [tensor]: readers that have not run
  for (const Tensor& tensor : graph.tensors) waiting.push_back(tensor.consumers.size());
  int64_t live = 0, peak = 0;
  for (const NodeId n : order) {
    const Node& node = graph.nodes[n];
    const int64_t result = LiveBytes(graph, node.result);
    peak = std::max(peak, live + result);
    if (waiting[node.result] > 0) live += result;
    for (const TensorId operand : node.operands) {
      if (--waiting[operand] == 0) live -= LiveBytes(graph, operand);
    }
  }
  return peak;
}

}  // namespace yuba::compiler
