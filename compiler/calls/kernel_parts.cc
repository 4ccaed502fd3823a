#include "compiler/calls/kernel_parts.h"

#include <algorithm>
#include <utility>

namespace yuba::compiler {
namespace {

bool Meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int buffer) { return b.count(buffer) != 0; });
}

// Whether the later of two instructions has to stay behind the earlier one.
bool MustFollow(const Uses& earlier, const Uses& later) {
  return Meet(earlier.writes, later.reads) || Meet(earlier.writes, later.writes) ||
         Meet(earlier.reads, later.writes);
}

}  // namespace

Uses UsesOf(const program::Instruction& instruction) {
  Uses uses;
  if (instruction.has_exchange()) {
    uses.reads.insert(instruction.exchange().source());
    uses.writes.insert(instruction.exchange().destination());
    return uses;
  }
  for (const program::Access& operand : instruction.kernel().operands())
    uses.reads.insert(operand.buffer());
  for (const program::Access& result : instruction.kernel().results())
    uses.writes.insert(result.buffer());
  return uses;
}

KernelParts::KernelParts(const Graph& graph, program::Program& program)
    : graph_(graph), program_(program) {
  FindKernels();
}

// Nodes and the kernels that compute them have the same names.
void KernelParts::FindKernels() {
  kernel_of_.clear();
  for (int i = 0; i < program_.instructions_size(); ++i) {
    for (const std::string& node : program_.instructions(i).kernel().node())
      kernel_of_.emplace(node, i);
  }
}

int KernelParts::KernelOf(NodeId node) const {
  const auto found = kernel_of_.find(graph_.nodes[node].name);
  return found == kernel_of_.end() ? -1 : found->second;
}

absl::optional<Part> KernelParts::Gather(const std::vector<NodeId>& nodes) {
  std::set<int> kernels;
  std::set<std::string> names;
  for (const NodeId node : nodes) {
    if (IsCopy(graph_, graph_.nodes[node])) continue;  // which has no kernel
    kernels.insert(KernelOf(node));
    names.insert(graph_.nodes[node].name);
  }
  const int first = *kernels.begin(), last = *kernels.rbegin();
  if (first < 0) return absl::nullopt;
  std::vector<int> order, members, after;
  std::vector<Uses> uses, uses_after;
  for (int i = first; i <= last; ++i) {
    const Uses own = UsesOf(program_.instructions(i));
    const auto follows = [&](const std::vector<Uses>& others) {
      return std::any_of(others.begin(), others.end(),
                         [&](const Uses& other) { return MustFollow(other, own); });
    };
    const bool member = kernels.count(i) != 0;
    if (member ? follows(uses_after) : program_.instructions(i).has_kernel()) return absl::nullopt;
    for (const std::string& node : program_.instructions(i).kernel().node())
      if (names.count(node) == 0) return absl::nullopt;
    if (member) {
      members.push_back(i);
      uses.push_back(own);
    } else if (follows(uses) || follows(uses_after)) {
      after.push_back(i);
      uses_after.push_back(own);
    } else {
      order.push_back(i);
    }
  }
  const Part part = {first + static_cast<int>(order.size()),
                     first + static_cast<int>(order.size() + members.size())};
  order.insert(order.end(), members.begin(), members.end());
  order.insert(order.end(), after.begin(), after.end());
  Reorder(first, order);
  return part;
}

// Instruction first + n becomes what was instruction order[n].
void KernelParts::Reorder(int first, const std::vector<int>& order) {
  std::vector<program::Instruction> moved;
  for (const int i : order) moved.push_back(std::move(*program_.mutable_instructions(i)));
  for (size_t n = 0; n < moved.size(); ++n)
    *program_.mutable_instructions(first + static_cast<int>(n)) = std::move(moved[n]);
  FindKernels();
}

}  // namespace yuba::compiler
