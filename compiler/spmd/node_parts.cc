#include "compiler/spmd/node_parts.h"

#include "compiler/spmd/tables.h"
#include "compiler/spmd/work_ranges.h"

namespace yuba::compiler {

TabledPtr MakeTabled(const Mesh& mesh, std::vector<Box> boxes) {
  program::Box table = BoxTable(mesh, boxes);
  return std::make_shared<const Tabled>(Tabled{std::move(boxes), std::move(table)});
}

const NodePart& NodeParts::Of(NodeId id) {
  const Node& node = graph_.nodes[id];
  const Sharding& partition = plan_.nodes[id];
  auto& known = parts_[{definitions_.NumberOf(*node.definition), partition.axes}];
  if (known == nullptr) known = std::make_unique<const NodePart>(Make(node, partition));
  return *known;
}

NodePart NodeParts::Make(const Node& node, const Sharding& partition) const {
  const Mesh& mesh = plan_.mesh;
  NodePart part;
  part.boxes = AnalyzeNode(*node.definition, partition, mesh);
  part.computed = *node.definition;
  std::vector<std::vector<Interval>>& ranges = part.boxes.ranges;  // [device][index]
  // A node that reads partials runs once for each group of devices: one more index numbers the
  // groups, and each device runs over its own group's number. A single group needs no index.
  if (!part.computed.partial_operands.empty()) {
    const AxisList& groups = partition.axes.back();
    part.computed = InGroups(part.computed, PartCount(mesh, groups));
    for (int device = 0; device < mesh.devices(); ++device) {
      const int group = PartNumber(mesh, groups, device);
      ranges[device].back() = {group, group + 1};
      ranges[device].resize(part.computed.indices.size());
    }
  }
  for (size_t index = 0; index < part.computed.indices.size(); ++index) {
    std::vector<Interval> intervals;
    for (const std::vector<Interval>& of_device : ranges) intervals.push_back(of_device[index]);
    *part.kernel.add_indices() = RangeTable(mesh, intervals);
  }
  AddWorkRanges(mesh, part.computed, ranges, part.kernel);
  for (size_t operand = 0; operand < node.operands.size(); ++operand) {
    std::vector<Box> reads;
    for (const std::vector<Box>& of_device : part.boxes.reads) reads.push_back(of_device[operand]);
    part.reads.push_back(MakeTabled(mesh, std::move(reads)));
  }
  part.writes = MakeTabled(mesh, part.boxes.writes);
  return part;
}

}  // namespace yuba::compiler
