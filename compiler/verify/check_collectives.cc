#include "compiler/verify/check_collectives.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "opsemantics/base/collectives.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"
#include "runtime/program/well_formed.h"

namespace yuba::compiler {
namespace {

// The devices of each group, by their coordinates on all axes but these.
std::map<std::vector<int>, std::vector<int>> GroupsOver(const Mesh& mesh,
                                                        const std::set<int>& axes) {
  std::map<std::vector<int>, std::vector<int>> groups;
  for (int device = 0; device < mesh.devices(); ++device) {
    std::vector<int> others;
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
      if (axes.count(axis) == 0) others.push_back(mesh.coordinate(device, axis));
    }
    groups[others].push_back(device);
  }
  return groups;
}

bool MarkHolds(const Mesh& mesh, const program::Exchange& exchange) {
  const std::set<int> axes(exchange.axes().begin(), exchange.axes().end());
  if (exchange.collective() == 0) return axes.empty();
  const Collective& collective = *CollectiveAt(exchange.collective());
  const bool combines = exchange.partials() > 1;
  if (static_cast<int>(axes.size()) != exchange.axes_size() || collective.combines != combines ||
      exchange.from_first_only()) {
    return false;
  }
  const std::vector<Box> from = BoxesOn(mesh, exchange.from()), to = BoxesOn(mesh, exchange.to());
  for (const auto& group : GroupsOver(mesh, axes)) {
    CollectiveSides sides;
    for (int device : group.second) {
      sides.from.push_back(&from[device]);
      sides.to.push_back(&to[device]);
      if (combines) sides.partials.insert(ValueOn(mesh, exchange.partial(), device));
    }
    if (!collective.matches(sides)) return false;
    // All partials of an element must be in its group.
    if (combines && static_cast<int>(sides.partials.size()) != exchange.partials()) return false;
  }
  return true;
}

// All that MarkHolds looks at.
std::string MarkOf(const program::Exchange& exchange) {
  program::Exchange mark;
  *mark.mutable_from() = exchange.from();
  *mark.mutable_to() = exchange.to();
  *mark.mutable_partial() = exchange.partial();
  *mark.mutable_axes() = exchange.axes();
  mark.set_partials(exchange.partials());
  mark.set_from_first_only(exchange.from_first_only());
  mark.set_collective(exchange.collective());
  return mark.SerializeAsString();
}

}  // namespace

absl::Status CheckCollectives(const program::Program& program) {
  YUBA_RETURN_IF_ERROR(program::CheckWellFormed(program));
  const Mesh mesh = MeshOf(program);
  std::set<std::string> checked;  // marks that hold
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_exchange()) continue;
    const program::Exchange& exchange = instruction.exchange();
    const std::string mark = MarkOf(exchange);
    if (checked.count(mark) > 0) continue;
    if (MarkHolds(mesh, exchange)) {
      checked.insert(mark);
      continue;
    }
    return ProofError("the exchange of ", exchange.tensor(), " for ", exchange.node(),
                      " is marked ", CollectiveName(exchange.collective()),
                      ", but its boxes over these axes are not those of one");
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
