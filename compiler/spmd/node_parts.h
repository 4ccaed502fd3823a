// What nodes of one definition and one partition have in common: what each device runs, reads and
// writes, and what a program says of it. A model whose blocks repeat has few of these, and each is
// made once.
#ifndef YUBA_COMPILER_SPMD_NODE_PARTS_H_
#define YUBA_COMPILER_SPMD_NODE_PARTS_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/definition/known_definitions.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// Boxes of all devices, and what a program says of them.
struct Tabled {
  std::vector<Box> boxes;  // [device]
  program::Box table;
};
using TabledPtr = std::shared_ptr<const Tabled>;
TabledPtr MakeTabled(const Mesh& mesh, std::vector<Box> boxes);

struct NodePart {
  Definition computed;  // of nodes that read partials, in groups (InGroups)
  NodeBoxes boxes;
  program::Kernel kernel;        // with its indices and the ranges of its work, and nothing else
  std::vector<TabledPtr> reads;  // [operand]
  TabledPtr writes;
};

class NodeParts {
 public:
  // Both must outlive this.
  NodeParts(const Graph& graph, const search::Plan& plan) : graph_(graph), plan_(plan) {}

  // Of a node that is no copy. The reference stays valid.
  const NodePart& Of(NodeId id);

 private:
  NodePart Make(const Node& node, const Sharding& partition) const;

  const Graph& graph_;
  const search::Plan& plan_;
  KnownDefinitions definitions_;
  // By definition and partition.
  std::map<std::pair<int, std::vector<AxisList>>, std::unique_ptr<const NodePart>> parts_;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_NODE_PARTS_H_
