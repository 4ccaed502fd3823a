#include "tests/compiler/order/random_graphs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "opsemantics/base/check.h"

namespace yuba::compiler {
namespace {

int Below(Random& random, int count) { return static_cast<int>(random() % count); }

Tensor Bytes(int64_t bytes, TensorKind kind, const std::string& name) {
  YUBA_CHECK(bytes % 4 == 0);
  Tensor tensor;
  tensor.name = name;
  tensor.kind = kind;
  tensor.type = {ElementType::kF32, {bytes / 4}};
  tensor.dims = {{bytes / 4}};
  return tensor;
}

// [node]: the nodes that must run before it.
std::vector<std::vector<NodeId>> Before(const Graph& graph, const std::vector<Precedence>& edges) {
  std::vector<std::vector<NodeId>> before(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const TensorId operand : graph.nodes[n].operands) {
      if (graph.tensors[operand].producer >= 0)
        before[n].push_back(graph.tensors[operand].producer);
    }
  }
  for (const Precedence& edge : edges) before[edge.after].push_back(edge.before);
  return before;
}

// An order in which the nodes can run, any one alike.
std::vector<NodeId> AnyOrder(const Graph& graph, Random& random) {
  const std::vector<std::vector<NodeId>> before = Before(graph, {});
  std::vector<bool> done(graph.nodes.size(), false);
  std::vector<NodeId> order;
  while (order.size() < graph.nodes.size()) {
    std::vector<NodeId> ready;
    for (size_t n = 0; n < before.size(); ++n) {
      const bool all =
          std::all_of(before[n].begin(), before[n].end(), [&](NodeId b) { return done[b]; });
      if (!done[n] && all) ready.push_back(static_cast<NodeId>(n));
    }
    order.push_back(ready[Below(random, static_cast<int>(ready.size()))]);
    done[order.back()] = true;
  }
  return order;
}

}  // namespace

GraphOfBytes::GraphOfBytes() {
  graph_.tensors.push_back(Bytes(4, TensorKind::kInput, "x"));
  graph_.inputs.push_back(0);
}

TensorId GraphOfBytes::Add(int64_t bytes, std::vector<TensorId> operands) {
  const TensorId result = static_cast<TensorId>(graph_.tensors.size());
  Node node;
  node.name = "n" + std::to_string(graph_.nodes.size());
  node.operands = std::move(operands);
  node.result = result;
  graph_.tensors.push_back(Bytes(bytes, TensorKind::kActivation, node.name));
  graph_.nodes.push_back(std::move(node));
  return result;
}

Graph GraphOfBytes::Finish() {
  Link(graph_);
  for (size_t t = 0; t < graph_.tensors.size(); ++t) {
    const Tensor& tensor = graph_.tensors[t];
    if (tensor.producer >= 0 && tensor.consumers.empty() && !tensor.output)
      graph_.outputs.push_back(static_cast<TensorId>(t));
  }
  Link(graph_);
  return graph_;
}

Graph RandomGraph(int nodes, int reach, Random& random) {
  GraphOfBytes build;
  for (int n = 0; n < nodes; ++n) {
    std::vector<TensorId> operands;
    for (int i = Below(random, 4); i > 0; --i) {
      operands.push_back(std::max(0, n - Below(random, reach)));  // tensor n: of node n - 1
    }
    if (operands.empty()) operands.push_back(0);
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    const TensorId result = build.Add(4 * (1 + Below(random, 20)), operands);
    if (Below(random, 10) == 0) build.Output(result);
  }
  return build.Finish();
}

Graph TrainingGraph(int layers) {
  GraphOfBytes build;
  std::vector<TensorId> values = {0};  // [layer]: what it reads
  for (int l = 0; l < layers; ++l) {
    std::vector<TensorId> operands = {values[l]};
    if (l % 2 == 1 && values[l - 1] != 0) operands.push_back(values[l - 1]);
    values.push_back(build.Add(64, operands));
  }
  TensorId gradient = build.Add(64, {values[layers]});
  std::vector<TensorId> updates;
  for (int l = layers - 1; l >= 0; --l) {
    const TensorId of_weight = build.Add(40, {values[l], gradient});
    updates.push_back(build.Add(40, {of_weight}));
    if (l > 0) gradient = build.Add(64, {gradient, values[l]});
  }
  for (size_t u = updates.size(); u > 0; --u) build.Output(updates[u - 1]);
  return build.Finish();
}

std::vector<Precedence> RandomPrecedences(const Graph& graph, int count, Random& random) {
  const std::vector<NodeId> order = AnyOrder(graph, random);
  std::vector<Precedence> edges;
  for (int i = 0; i < count; ++i) {
    const int a = Below(random, static_cast<int>(order.size()));
    const int b = Below(random, static_cast<int>(order.size()));
    if (a != b) edges.push_back({order[std::min(a, b)], order[std::max(a, b)]});
  }
  return edges;
}

Graph Shuffled(const Graph& graph, Random& random) {
  Graph result = graph;
  result.nodes.clear();
  for (const NodeId node : AnyOrder(graph, random)) result.nodes.push_back(graph.nodes[node]);
  Link(result);
  return result;
}

int64_t ExhaustivePeak(const Graph& graph, const std::vector<Precedence>& precedences) {
  const int count = static_cast<int>(graph.nodes.size());
  YUBA_CHECK(count <= 20);
  const std::vector<std::vector<NodeId>> before = Before(graph, precedences);
  const auto live = [&](uint32_t done, int running) {
    int64_t bytes = 0;
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.producer < 0 || tensor.output) continue;
      bool lives = tensor.producer == running;
      for (const NodeId reader : tensor.consumers) {
        lives = lives || ((done >> tensor.producer & 1) != 0 && (done >> reader & 1) == 0);
      }
      if (lives) bytes += 4 * tensor.type.dims[0];
    }
    return bytes;
  };
  std::map<uint32_t, int64_t> peaks = {{0, 0}};  // a set of nodes that have run: the least peak
  for (int size = 0; size < count; ++size) {
    std::map<uint32_t, int64_t> next;
    for (const auto& [done, peak] : peaks) {
      for (int n = 0; n < count; ++n) {
        const bool can = std::all_of(before[n].begin(), before[n].end(),
                                     [&, set = done](NodeId b) { return set >> b & 1; });
        if ((done >> n & 1) != 0 || !can) continue;
        const int64_t with = std::max(peak, live(done, n));
        const auto known = next.emplace(done | uint32_t{1} << n, with).first;
        known->second = std::min(known->second, with);
      }
    }
    peaks = std::move(next);
  }
  return peaks.begin()->second;
}

}  // namespace yuba::compiler
