// recognise: which exchanges are collectives over some axes of the mesh, judged by their boxes
// alone.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/lower/lower.h"
#include "compiler/lower/tables.h"

namespace yuba {
namespace {

using Axes = std::vector<int>;
using Group = std::vector<int>;  // devices that differ on the collective's axes only

std::vector<Group> GroupsOver(const Mesh& mesh, const Axes& axes) {
  std::map<std::vector<int>, Group> groups;
  for (int device = 0; device < mesh.devices(); ++device) {
    std::vector<int> others;
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
      const bool inside = std::find(axes.begin(), axes.end(), axis) != axes.end();
      others.push_back(inside ? 0 : mesh.coordinate(device, axis));
    }
    groups[others].push_back(device);
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

bool Disjoint(const std::vector<Box>& boxes) {
  for (size_t a = 0; a < boxes.size(); ++a) {
    for (size_t b = a + 1; b < boxes.size(); ++b) {
      if (!IsEmpty(Intersect(boxes[a], boxes[b]))) return false;
    }
  }
  return true;
}

int64_t TotalVolume(const std::vector<Box>& boxes) {
  int64_t total = 0;
  for (const Box& box : boxes) total += Volume(box);
  return total;
}

// Whether the boxes `a` are disjoint, the boxes `b` too, and both have the same union.
bool SameUnion(const std::vector<Box>& a, const std::vector<Box>& b) {
  if (TotalVolume(a) != TotalVolume(b)) return false;  // most candidates end here
  const auto covers = [](const std::vector<Box>& outer, const std::vector<Box>& inner) {
    return std::all_of(inner.begin(), inner.end(),
                       [&](const Box& box) { return SubtractAll(box, outer).empty(); });
  };
  return Disjoint(a) && Disjoint(b) && covers(a, b);  // with equal volumes the other way follows
}

bool AllEqual(const std::vector<Box>& boxes) {
  return std::all_of(boxes.begin(), boxes.end(), [&](const Box& b) { return b == boxes[0]; });
}

// One group's side of an exchange.
struct Sides {
  std::vector<Box> from, to;
  std::set<int> parts;  // that the group made
};

bool IsAllGather(const Sides& s) { return AllEqual(s.to) && SameUnion(s.from, {s.to[0]}); }

bool IsPermute(const Sides& s) {
  std::vector<Box> unsent = s.from;
  for (const Box& box : s.to) {
    const auto found = std::find(unsent.begin(), unsent.end(), box);
    if (found == unsent.end()) return false;
    unsent.erase(found);
  }
  return Disjoint(s.from);
}

bool IsAllToAll(const Sides& s) { return SameUnion(s.from, s.to); }

bool IsReduceScatter(const Sides& s) {
  return AllEqual(s.from) && s.parts.size() == s.from.size() && SameUnion({s.from[0]}, s.to);
}

bool IsAllReduce(const Sides& s) {
  return AllEqual(s.from) && s.parts.size() == s.from.size() && AllEqual(s.to) &&
         s.from[0] == s.to[0];
}

// The groups over each set of axes that was asked for.
class GroupCache {
 public:
  explicit GroupCache(const Mesh& mesh) : mesh_(mesh) {}
  const std::vector<Group>& Over(const Axes& axes) {
    std::vector<Group>& groups = groups_[axes];
    if (groups.empty()) groups = GroupsOver(mesh_, axes);
    return groups;
  }

 private:
  const Mesh& mesh_;
  std::map<Axes, std::vector<Group>> groups_;
};

class Recogniser {
 public:
  Recogniser(const Mesh& mesh, GroupCache& groups, program::Exchange& exchange)
      : mesh_(mesh),
        groups_(groups),
        exchange_(exchange),
        from_(BoxesOn(mesh, exchange.from())),
        to_(BoxesOn(mesh, exchange.to())) {}

  void Mark() {
    if (exchange_.from_first_only() || exchange_.has_group()) return;
    if (exchange_.parts() == 1 && IsLocal()) return;
    for (const Axes& axes : Candidates()) {
      if (exchange_.parts() > 1) {
        if (MarkIf(program::REDUCE_SCATTER, axes, IsReduceScatter)) return;
        if (MarkIf(program::ALL_REDUCE, axes, IsAllReduce)) return;
      } else {
        if (MarkIf(program::ALL_GATHER, axes, IsAllGather)) return;
        if (MarkIf(program::PERMUTE, axes, IsPermute)) return;
        if (MarkIf(program::ALL_TO_ALL, axes, IsAllToAll)) return;
      }
    }
  }

 private:
  bool IsLocal() const {
    for (size_t device = 0; device < from_.size(); ++device) {
      if (!Contains(from_[device], to_[device])) return false;
    }
    return true;
  }

  void AddAxes(const program::Bound& bound, std::set<int>& axes) const {
    axes.insert(bound.axes().begin(), bound.axes().end());
  }

  // Subsets of the axes on which the exchange depends, small ones first, so that the least set of
  // axes over which something moves is found.
  std::vector<Axes> Candidates() const {
    std::set<int> used;
    for (const program::Box* box : {&exchange_.from(), &exchange_.to()}) {
      for (const program::Range& range : box->dims()) {
        AddAxes(range.begin(), used);
        AddAxes(range.end(), used);
      }
    }
    AddAxes(exchange_.part(), used);
    const Axes axes(used.begin(), used.end());
    std::vector<Axes> subsets;
    for (uint32_t bits = 1; bits < (uint32_t{1} << axes.size()); ++bits) {
      subsets.emplace_back();
      for (size_t i = 0; i < axes.size(); ++i) {
        if (bits >> i & 1) subsets.back().push_back(axes[i]);
      }
    }
    std::stable_sort(subsets.begin(), subsets.end(),
                     [](const Axes& a, const Axes& b) { return a.size() < b.size(); });
    return subsets;
  }

  bool MarkIf(program::Collective collective, const Axes& axes, bool (*holds)(const Sides&)) {
    for (const Group& group : groups_.Over(axes)) {
      Sides sides;
      for (int device : group) {
        sides.from.push_back(from_[device]);
        sides.to.push_back(to_[device]);
        if (exchange_.parts() > 1) sides.parts.insert(ValueOn(mesh_, exchange_.part(), device));
      }
      if (exchange_.parts() > 1 && static_cast<int>(group.size()) != exchange_.parts())
        return false;
      if (!holds(sides)) return false;
    }
    exchange_.set_collective(collective);
    exchange_.mutable_axes()->Add(axes.begin(), axes.end());
    return true;
  }

  const Mesh& mesh_;
  GroupCache& groups_;
  program::Exchange& exchange_;
  const std::vector<Box> from_, to_;
};

}  // namespace

void RecogniseCollectives(program::Program& program) {
  const Mesh mesh = MeshOf(program);
  GroupCache groups(mesh);
  for (program::Stage& stage : *program.mutable_stages()) {
    for (program::Instruction& instruction : *stage.mutable_instructions()) {
      if (!instruction.has_exchange()) continue;
      instruction.mutable_exchange()->clear_collective();
      instruction.mutable_exchange()->clear_axes();
      Recogniser(mesh, groups, *instruction.mutable_exchange()).Mark();
    }
  }
}

}  // namespace yuba
