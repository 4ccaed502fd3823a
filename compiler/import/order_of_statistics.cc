#include "compiler/import/order_of_statistics.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/parameters/operand_words.h"

namespace yuba::onnx {
namespace {

// Whether the node may move its running statistics, which it says by an attribute or by outputs.
bool MayMoveStatistics(const ::onnx::NodeProto& node) {
  return node.output_size() > 1 ||
         std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const auto& attribute) { return attribute.name() == "training_mode"; });
}

bool IsInOrder(const ::onnx::GraphProto& graph, const std::vector<int>& nodes) {
  std::map<std::string, int> last;  // the node that moves it, by the variance
  for (const int n : nodes) {
    const ::onnx::NodeProto& node = graph.node(n);
    if (!MayMoveStatistics(node)) continue;
    for (int i = 0; i < node.input_size(); ++i) {
      if (WordOfOperand(node.op_type(), i) != OperandWord::kVariance) continue;
      int& before = last.emplace(node.input(i), n).first->second;
      if (before > n) return false;
      before = n;
    }
  }
  return true;
}

// Whether each of the nodes stands behind those whose results it reads.
bool IsSorted(const ::onnx::GraphProto& graph, const std::vector<int>& nodes) {
  std::set<std::string> later;
  for (const int n : nodes)
    later.insert(graph.node(n).output().begin(), graph.node(n).output().end());
  for (const int n : nodes) {
    for (const std::string& read : ReadsOf(graph.node(n))) {
      if (!read.empty() && later.count(read) > 0) return false;
    }
    for (const std::string& output : graph.node(n).output()) later.erase(output);
  }
  return true;
}

}  // namespace

void KeepOrderOfStatistics(const ::onnx::GraphProto& graph, FileGraph& order) {
  if (IsInOrder(graph, order.nodes)) return;
  std::vector<int> sorted = order.nodes;
  std::sort(sorted.begin(), sorted.end());
  if (IsSorted(graph, sorted)) order.nodes = std::move(sorted);
}

}  // namespace yuba::onnx
