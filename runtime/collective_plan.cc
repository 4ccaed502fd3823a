// Plans recognised collectives: instead of searching all devices for who has what, each device
// looks at its group only. Everything that the collective's name promises is checked against the
// boxes.
#include <algorithm>
#include <map>

#include "opsemantics/base/collectives.h"
#include "opsemantics/base/status.h"
#include "runtime/exchange_plan.h"

namespace yuba::runtime {
namespace {

using Group = std::vector<int>;  // devices, ascending

std::vector<Group> GroupsOf(const LoadedProgram& program, const program::Exchange& exchange) {
  program::Bound others;  // the number of a device's group: its coordinates on the other axes
  int64_t groups = 1;
  for (int axis = 0; axis < program.message().mesh_size(); ++axis) {
    if (std::count(exchange.axes().begin(), exchange.axes().end(), axis) > 0) continue;
    others.add_axes(axis);
    groups *= program.message().mesh(axis).size();
  }
  for (int64_t g = 0; g < groups; ++g) others.add_values(g);
  std::vector<Group> result(groups);
  for (int d = 0; d < program.devices(); ++d) result[program.Value(others, d)].push_back(d);
  return result;
}

class Planner {
 public:
  Planner(const LoadedProgram& program, const program::Exchange& exchange)
      : program_(program),
        exchange_(exchange),
        boxes_(BoxesOf(program, exchange)),
        plan_(EmptyPlan(program, exchange)) {}

  absl::StatusOr<ExchangePlan> Run() {
    const Collective& collective = *CollectiveAt(exchange_.collective());
    const bool combines = exchange_.reduce() && exchange_.partials() > 1;
    if (collective.combines != combines) return Mistaken();
    for (const Group& group : GroupsOf(program_, exchange_)) {
      if (!collective.matches(SidesOf(group, combines))) return Mistaken();
      for (size_t rank = 0; rank < group.size(); ++rank) {
        const bool right = combines ? Reduce(group, rank) : Gather(group, rank);
        if (!right) return Mistaken();
      }
    }
    ListPeers(plan_);
    return std::move(plan_);
  }

 private:
  absl::Status Mistaken() const {
    return UserError("the exchange of ", exchange_.tensor(), " for ", exchange_.node(),
                     " is marked ", CollectiveName(exchange_.collective()),
                     " but its boxes are not; compile the program again");
  }

  CollectiveSides SidesOf(const Group& group, bool combines) const {
    CollectiveSides sides;
    for (int device : group) {
      sides.from.push_back(&boxes_.from[device]);
      sides.to.push_back(&boxes_.to[device]);
      if (combines) sides.partials.insert(program_.Value(exchange_.partial(), device));
    }
    return sides;
  }

  bool InPlace(int device) const {
    return plan_.source_offset == plan_.destination_offset &&
           boxes_.source[device] == boxes_.destination[device];
  }

  // Nothing is combined: the device takes from each member what that member has of the box that the
  // device wants. The members' boxes are disjoint, as `matches` saw, and must fill the wanted box.
  bool Gather(const Group& group, size_t rank) {
    const int device = group[rank];
    const Box& wanted = boxes_.to[device];
    int64_t found = 0;
    for (size_t step = 0; step < group.size(); ++step) {
      const int source = group[(rank + step) % group.size()];
      const Box box = Intersect(boxes_.from[source], wanted);
      if (IsEmpty(box)) continue;
      found += Volume(box);
      if (source == device && InPlace(device)) continue;
      plan_.devices[device].pieces.push_back(
          {source, box, WalkOf(box, {boxes_.source[source], boxes_.destination[device]})});
    }
    if (plan_.combination.from != plan_.combination.to) Convert(device);
    return found == (IsEmpty(wanted) ? 0 : Volume(wanted));
  }

  // A reduction of one partial into a narrower type is a combination of that one partial.
  void Convert(int device) {
    DeviceExchange& own = plan_.devices[device];
    for (Piece& piece : own.pieces) {
      own.cells.push_back({{piece.source}, std::move(piece.box), std::move(piece.walk)});
    }
    own.pieces.clear();
  }

  // Partials are combined: every member wrote one partial of all that the members own. Only
  // the first of the devices that own one box combines; the others take the result from it in an
  // exchange of its own (from_first_only).
  bool Reduce(const Group& group, size_t rank) {
    const int device = group[rank];
    const Box& own = boxes_.to[device];
    if (static_cast<int>(group.size()) != exchange_.partials()) return false;
    std::map<int64_t, int> by_partial;
    for (int member : group) by_partial[program_.Value(exchange_.partial(), member)] = member;
    if (by_partial.size() != group.size()) return false;
    if (IsEmpty(own) || std::find(boxes_.to.begin(), boxes_.to.begin() + device, own) !=
                            boxes_.to.begin() + device) {
      return true;
    }
    Cell cell;
    cell.box = own;
    std::vector<Box> buffers;
    for (const auto& [partial, member] : by_partial) {
      if (!Contains(boxes_.from[member], own)) return false;
      cell.sources.push_back(member);
      buffers.push_back(boxes_.source[member]);
    }
    buffers.push_back(boxes_.destination[device]);
    cell.walk = WalkOf(own, buffers);
    plan_.devices[device].cells.push_back(std::move(cell));
    return true;
  }

  const LoadedProgram& program_;
  const program::Exchange& exchange_;
  const ExchangeBoxes boxes_;
  ExchangePlan plan_;
};

}  // namespace

absl::StatusOr<ExchangePlan> PlanCollective(const LoadedProgram& program,
                                            const program::Exchange& exchange) {
  return Planner(program, exchange).Run();
}

}  // namespace yuba::runtime
