// The kernels of a program that compute some nodes of its graph, brought next to each other, so
// that a call of a library may stand for them.
//
// Example: on two devices that have half of the images each, a weight's gradient is summed by an
// exchange behind its product, and that of the bias by one behind its sum. The first exchange moves
// behind the sum, and product and sum are neighbours.
#ifndef YUBA_COMPILER_CALLS_KERNEL_PARTS_H_
#define YUBA_COMPILER_CALLS_KERNEL_PARTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// The buffers that an instruction reads and writes.
struct Uses {
  std::set<int> reads, writes;
};
Uses UsesOf(const program::Instruction& instruction);

// Instructions [begin, end).
struct Part {
  int begin = 0, end = 0;
};

class KernelParts {
 public:
  // The program is of the graph, and both outlive this. Nobody else moves instructions meanwhile.
  KernelParts(const Graph& graph, program::Program& program);

  // The instruction that computes the node; -1: none does.
  int KernelOf(NodeId node) const;
  // Of a node that has one.
  const program::Kernel& KernelAt(NodeId node) const {
    return program_.instructions(KernelOf(node)).kernel();
  }

  // Moves exchanges from between the kernels of the nodes, to before the first or behind the last;
  // these kernels are the part that is returned. nullopt where anything else stands between them,
  // an exchange has to, or one of them computes other nodes too; nothing is moved then. At least
  // one of the nodes is no copy.
  absl::optional<Part> Gather(const std::vector<NodeId>& nodes);

 private:
  void FindKernels();
  void Reorder(int first, const std::vector<int>& order);

  const Graph& graph_;
  program::Program& program_;
  std::map<std::string, int> kernel_of_;  // by the node's name
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CALLS_KERNEL_PARTS_H_
