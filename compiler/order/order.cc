#include "compiler/order/order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/order/least_peak.h"
#include "compiler/order/live_bytes.h"
#include "compiler/order/steps.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// What is spent on one graph, in the units of LeastPeak.
constexpr int64_t kWork = 30'000'000;
// Sets of steps that are kept: few, then more while there is work left and something to gain.
constexpr size_t kWidths[] = {1, 8, 64, 512, 4096, 32768};

// An order of a segment, the best that is known.
struct SegmentOrder {
  std::vector<int> steps;
  int64_t peak = 0;
  bool proved = false;  // no order of the segment has a lower peak
};

// The peak where the steps run as they are numbered.
int64_t PeakAsNumbered(const Segment& segment) {
  std::vector<std::vector<int>> frees(segment.steps.size());  // [step]: results that it reads last
  const int own = static_cast<int>(segment.steps.size());
  for (int s = 0; s < own; ++s) {
    if (!segment.steps[s].readers.empty()) frees[segment.steps[s].readers.back()].push_back(s);
  }
  int64_t live = segment.live, peak = live;
  std::vector<int64_t> freed(segment.steps.size());
  for (int s = 0; s < own; ++s) {
    for (const int r : frees[s]) freed[s] += segment.steps[r].bytes;
  }
  for (const Segment::Inherited& result : segment.inherited) {
    freed[result.readers.back()] += result.bytes;
  }
  for (int s = 0; s < own; ++s) {
    peak = std::max(peak, live + segment.steps[s].extra);
    live += segment.steps[s].bytes - freed[s];
  }
  return peak;
}

// Looks for an order with a lower peak than best.peak; one of `floor` is good enough.
void Improve(const Segment& segment, int64_t floor, int64_t& work, SegmentOrder& best) {
  for (const size_t width : kWidths) {
    if (best.peak <= floor || best.proved) return;
    FoundOrder found = LeastPeak(segment, {floor, best.peak, width}, work);
    if (work < 0) return;
    if (!found.order.empty()) {
      best.steps = std::move(found.order);
      best.peak = found.peak;
    }
    best.proved = found.complete && best.peak > floor;
  }
}

// Orders of all segments, such that the largest of their peaks is small. Segments whose order does
// not matter to it stay as they are.
std::vector<SegmentOrder> OrdersOf(const std::vector<Segment>& segments) {
  std::vector<SegmentOrder> orders;
  int64_t floor = 0;
  for (const Segment& segment : segments) {
    SegmentOrder order;
    order.steps.resize(segment.steps.size());
    std::iota(order.steps.begin(), order.steps.end(), 0);
    order.peak = PeakAsNumbered(segment);
    orders.push_back(std::move(order));
    floor = std::max(floor, segment.least);
  }
  std::vector<size_t> by_peak(segments.size());
  std::iota(by_peak.begin(), by_peak.end(), 0);
  std::stable_sort(by_peak.begin(), by_peak.end(),
                   [&](size_t a, size_t b) { return orders[a].peak > orders[b].peak; });
  int64_t work = kWork;
  for (const size_t s : by_peak) {
    if (orders[s].peak <= floor) break;
    Improve(segments[s], floor, work, orders[s]);
    floor = std::max(floor, orders[s].peak);
  }
  return orders;
}

// [operand]: whether the node reads the next value of a carried tensor.
std::vector<bool> NextValuesRead(const Graph& graph, NodeId node) {
  std::vector<bool> next;
  for (const TensorId operand : graph.nodes[node].operands) {
    const Tensor& tensor = graph.tensors[operand];
    next.push_back(IsCarried(tensor) && ProducerFor(graph, operand, node) >= 0);
  }
  return next;
}

}  // namespace

absl::StatusOr<NodeOrder> LeastPeakOrder(const Graph& graph,
                                         const std::vector<Precedence>& precedences) {
  NodeOrder result;
  YUBA_ASSIGN_OR_RETURN(result.nodes, DepthFirst(graph, precedences));
  result.peak = result.depth_first_peak = PeakOfLiveBytes(graph, result.nodes);
  const std::vector<Segment> segments = SegmentsOf(StepsOf(graph, precedences, result.nodes));
  const std::vector<SegmentOrder> orders = OrdersOf(segments);
  std::vector<NodeId> nodes;
  int64_t least = 0, proved = 0;
  for (size_t s = 0; s < segments.size(); ++s) {
    least = std::max(least, segments[s].least);
    if (orders[s].proved) proved = std::max(proved, orders[s].peak);
    for (const int step : orders[s].steps) {
      const std::vector<NodeId>& of = segments[s].steps[step].nodes;
      nodes.insert(nodes.end(), of.begin(), of.end());
    }
  }
  const int64_t peak = PeakOfLiveBytes(graph, nodes);
  if (peak < result.peak) {
    result.nodes = std::move(nodes);
    result.peak = peak;
  }
  result.proved = result.peak <= std::max(least, proved);
  return result;
}

void Reorder(const std::vector<NodeId>& order, Model& model) {
  Graph& graph = model.graph;
  std::vector<Node> nodes;
  std::vector<std::vector<bool>> read;  // [node in the new order], as NextValuesRead
  for (const NodeId node : order) {
    read.push_back(NextValuesRead(graph, node));
    nodes.push_back(std::move(graph.nodes[node]));
  }
  graph.nodes = std::move(nodes);
  Link(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    YUBA_CHECK(NextValuesRead(graph, static_cast<NodeId>(n)) == read[n])
        << graph.nodes[n].name << " reads another value of a state than before it was moved";
  }
  const auto first = [&](const Cluster& cluster) {
    return ProducerIn(graph, cluster.results[0], cluster.entry);
  };
  std::sort(model.clusters.begin(), model.clusters.end(),
            [&](const Cluster& a, const Cluster& b) { return first(a) < first(b); });
}

absl::Status OrderModel(Model& model) {
  Graph& graph = model.graph;
  std::vector<NodeId> order;
  for (int entry = 0; entry < static_cast<int>(graph.entries.size()); ++entry) {
    const Graph part = GraphOfEntry(graph, entry);
    if (part.nodes.empty()) continue;
    YUBA_ASSIGN_OR_RETURN(const NodeOrder found, LeastPeakOrder(part, ReadersBeforeWriters(part)));
    const auto first = static_cast<NodeId>(NodesOf(graph, entry).begin);
    for (const NodeId node : found.nodes) order.push_back(first + node);
  }
  Reorder(order, model);
  return absl::OkStatus();
}

absl::Status CheckOrder(const Graph& graph, const std::vector<Precedence>& precedences) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const TensorId operand : graph.nodes[n].operands) {
      const NodeId producer = ProducerFor(graph, operand, static_cast<NodeId>(n));
      if (producer < static_cast<NodeId>(n)) continue;
      return ProofError("the node ", graph.nodes[n].name, " runs before ",
                        graph.nodes[producer].name, ", which it reads");
    }
  }
  for (const Precedence& edge : precedences) {
    if (edge.before < edge.after) continue;
    return ProofError("the node ", graph.nodes[edge.after].name, " runs before ",
                      graph.nodes[edge.before].name, ", which must precede it");
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<NodeId> depth_first, DepthFirst(graph, precedences));
  std::vector<NodeId> standing(graph.nodes.size());
  std::iota(standing.begin(), standing.end(), 0);
  const int64_t peak = PeakOfLiveBytes(graph, standing);
  const int64_t most = PeakOfLiveBytes(graph, depth_first);
  if (peak <= most) return absl::OkStatus();
  return ProofError(peak, " bytes are live at once, ", most, " in the depth-first order");
}

absl::Status CheckOrderOfEntries(const Graph& graph) {
  for (int entry = 0; entry < static_cast<int>(graph.entries.size()); ++entry) {
    const Graph part = GraphOfEntry(graph, entry);
    YUBA_RETURN_IF_ERROR(CheckOrder(part, ReadersBeforeWriters(part)));
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
