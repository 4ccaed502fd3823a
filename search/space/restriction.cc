#include "search/space/restriction.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "search/space/symmetry.h"

namespace yuba::search {
namespace {

bool Contains(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool Contains(const AxisList& axes, uint8_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool Demanded(const Demands& demands, uint8_t axis) {
  return std::any_of(demands.begin(), demands.end(),
                     [&](const Demand& demand) { return Contains(demand.axes, axis); });
}

bool Uses(const Choice& choice, uint8_t axis) {
  return std::any_of(choice.axes.begin(), choice.axes.end(),
                     [&](const AxisList& list) { return Contains(list, axis); });
}

// Whether `list` has the demanded axes that are among `placed`, in order, and others only if they
// may be there.
bool Meets(const AxisList& list, const Demand& demand, const std::vector<int>& placed) {
  AxisList wanted, found;
  for (uint8_t axis : demand.axes) {
    if (Contains(placed, axis)) wanted.push_back(axis);
  }
  for (uint8_t axis : list) {
    if (Contains(demand.axes, axis))
      found.push_back(axis);
    else if (!demand.others)
      return false;
  }
  return wanted == found;
}

bool NothingWanted(const Demand& demand) { return !demand.others && demand.axes.empty(); }

// Whether earlier levels had to put axes on extents that should stay whole: no such axis fits an
// extent that may be cut.
bool HadNoRoom(const ChoiceSpace& wanted, const Mesh& mesh, const Choice& prefix,
               const Demands& demands) {
  int64_t room = 0;
  for (size_t e = 0; e < demands.size(); ++e) {
    if (wanted.cuttable[e])
      room = std::max(room, wanted.extents[e] / PartCount(mesh, prefix.axes[e]));
  }
  for (size_t e = 0; e < demands.size(); ++e) {
    if (!NothingWanted(demands[e])) continue;
    for (uint8_t axis : prefix.axes[e]) {
      if (mesh.axes[axis].size <= room) return false;
    }
  }
  return true;
}

// Whether axes of these classes (descending, from number `next` on) can be placed or left out so
// that no axis that is left out fits an extent in the end. `room`: [extent], elements a part.
// `first`: the extent from which the next axis is tried if it is of the class of the one before. If
// so, `places` has the extent of each axis; that of one left out is the number of extents.
bool CanPlace(const std::vector<AxisClass>& axes, size_t next, size_t first, const Demands& demands,
              const std::vector<bool>& cuttable, std::vector<int64_t>& room, int smallest_left_out,
              std::vector<size_t>& places) {
  places.resize(axes.size());
  if (next == axes.size()) {
    for (size_t e = 0; e < room.size(); ++e) {
      if (cuttable[e] && room[e] >= smallest_left_out) return false;
    }
    return true;
  }
  // Of axes of one class each is placed at the extent of the one before or a later one; to be left
  // out comes last.
  const int size = axes[next].size;
  const size_t begin = next > 0 && axes[next] == axes[next - 1] ? first : 0;
  for (size_t e = begin; e < room.size(); ++e) {
    if (!cuttable[e] || !demands[e].others || room[e] < size) continue;
    const int64_t before = room[e];
    room[e] /= size;
    places[next] = e;
    const bool placed =
        CanPlace(axes, next + 1, e, demands, cuttable, room, smallest_left_out, places);
    room[e] = before;
    if (placed) return true;
  }
  places[next] = room.size();
  return CanPlace(axes, next + 1, room.size(), demands, cuttable, room,
                  std::min(smallest_left_out, size), places);
}

// Whether a choice of the axes in `placed` can be completed to a legal one of all axes.
bool CanComplete(const ChoiceSpace& space, const Mesh& mesh, const std::vector<int>& placed,
                 const Choice& choice, const Demands& demands) {
  std::vector<int64_t> room = space.extents;
  for (size_t e = 0; e < room.size(); ++e) room[e] /= PartCount(mesh, choice.axes[e]);
  std::vector<AxisClass> rest;
  int smallest_left_out = INT32_MAX;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    const bool later = !Contains(placed, axis);
    if (later && !Demanded(demands, axis)) rest.push_back(mesh.axes[axis].axis_class());
    for (size_t e = 0; later && e < room.size(); ++e) {
      if (Contains(demands[e].axes, axis)) room[e] /= mesh.axes[axis].size;
    }
    if (!later && !Uses(choice, axis))
      smallest_left_out = std::min(smallest_left_out, mesh.axes[axis].size);
  }
  if (std::count(room.begin(), room.end(), 0) >
      std::count(space.extents.begin(), space.extents.end(), 0)) {
    return false;
  }
  if (space.optional) return true;
  std::sort(rest.rbegin(), rest.rend());
  std::vector<size_t> places;
  return CanPlace(rest, 0, 0, demands, space.cuttable, room, smallest_left_out, places);
}

// The space without the room that the demanded axes of later levels need. With `only_demanded` also
// without the extents that the demands leave whole.
ChoiceSpace SpaceLeft(const ChoiceSpace& space, const Mesh& mesh, const std::vector<int>& placed,
                      const Demands& demands, bool only_demanded) {
  ChoiceSpace left = space;
  for (size_t e = 0; e < demands.size(); ++e) {
    const Demand& demand = demands[e];
    if (only_demanded && NothingWanted(demand)) left.cuttable[e] = false;
    for (uint8_t axis : demand.axes) {
      if (!Contains(placed, axis)) left.extents[e] /= mesh.axes[axis].size;
    }
  }
  return left;
}

// The axes of `like` on one extent that may stay there under the demand, and all that are demanded.
AxisList AxesLike(const AxisList& like, const Demand& demand, const Demands& demands) {
  AxisList kept, wanted;
  for (const uint8_t axis : like) {
    const bool here = Contains(demand.axes, axis);
    if (here) wanted.push_back(axis);
    if (here || (demand.others && !Demanded(demands, axis))) kept.push_back(axis);
  }
  if (wanted == demand.axes) return kept;
  AxisList axes = demand.axes;
  for (const uint8_t axis : kept) {
    if (!Contains(demand.axes, axis)) axes.push_back(axis);
  }
  return axes;
}

// Adds the axes that `choice` does not use where there is room for them, so that it is legal. False
// where that cannot be, for what the demands leave whole.
bool Complete(const ChoiceSpace& space, const Mesh& mesh, const Demands& demands, Choice& choice) {
  std::vector<int64_t> room = space.extents;
  for (size_t e = 0; e < room.size(); ++e) {
    const int64_t parts = PartCount(mesh, choice.axes[e]);
    if (parts > 1 && (!space.cuttable[e] || parts > space.extents[e])) return false;
    room[e] /= parts;
  }
  if (space.optional) return true;
  std::vector<uint8_t> axes;  // by class, largest first
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (!Uses(choice, static_cast<uint8_t>(axis))) axes.push_back(static_cast<uint8_t>(axis));
  }
  std::stable_sort(axes.begin(), axes.end(), [&](uint8_t a, uint8_t b) {
    return mesh.axes[b].axis_class() < mesh.axes[a].axis_class();
  });
  std::vector<AxisClass> classes;
  for (const uint8_t axis : axes) classes.push_back(mesh.axes[axis].axis_class());
  std::vector<size_t> places;
  if (!CanPlace(classes, 0, 0, demands, space.cuttable, room, INT32_MAX, places)) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (places[i] < choice.axes.size()) choice.axes[places[i]].push_back(axes[i]);
  }
  return true;
}

}  // namespace

Demands OnlyExtent(size_t extents, size_t extent) {
  Demands demands(extents, {{}, false});
  demands[extent].others = true;
  return demands;
}

Demands OnlyExtents(const std::vector<bool>& extents) {
  Demands demands;
  for (bool may : extents) demands.push_back({{}, may});
  return demands;
}

std::vector<Choice> RestrictedChoices(const ChoiceSpace& space, const Mesh& mesh,
                                      const std::vector<int>& axes, const std::vector<int>& placed,
                                      const Choice& prefix, Nesting nesting,
                                      const Restriction& restriction) {
  std::vector<Choice> result;
  absl::flat_hash_set<std::string> known;
  auto add = [&](Choice choice) {
    if (known.insert(Key(choice)).second) result.push_back(std::move(choice));
  };
  for (const Demands& demands : restriction.any_of) {
    const ChoiceSpace wanted = SpaceLeft(space, mesh, placed, demands, true);
    const ChoiceSpace whole = SpaceLeft(space, mesh, placed, demands, false);
    const bool elsewhere = restriction.rest == Rest::kElsewhere;
    if (elsewhere && !HadNoRoom(wanted, mesh, prefix, demands)) continue;
    for (const Choice& choice : LegalChoices(wanted, mesh, axes, prefix, nesting)) {
      bool meets = true;
      for (size_t e = 0; e < demands.size(); ++e) {
        const bool only_earlier = elsewhere && NothingWanted(demands[e]);
        meets &= only_earlier || Meets(choice.axes[e], demands[e], placed);
      }
      if (!meets) continue;
      if (restriction.rest == Rest::kRefused) {
        if (CanComplete(space, mesh, placed, choice, demands)) add(choice);
      } else if (restriction.rest == Rest::kLeftOut) {
        add(choice);
      } else {
        std::vector<int> rest;
        for (int axis : axes) {
          if (!Uses(choice, static_cast<uint8_t>(axis))) rest.push_back(axis);
        }
        for (Choice& full : LegalChoices(whole, mesh, rest, choice, nesting)) add(std::move(full));
      }
    }
  }
  return result;
}

Choice ConformedChoice(const ChoiceSpace& space, const Mesh& mesh, const Choice& like,
                       const Restriction& restriction) {
  for (const bool as_like : {true, false}) {
    for (const Demands& demands : restriction.any_of) {
      Choice choice;
      for (size_t e = 0; e < demands.size(); ++e) {
        choice.axes.push_back(as_like ? AxesLike(like.axes[e], demands[e], demands)
                                      : demands[e].axes);
      }
      if (Complete(space, mesh, demands, choice)) return choice;
    }
  }
  YUBA_CHECK(false) << "no legal choice meets " << Key(restriction);
  return like;
}

bool MayMeet(const Mesh& mesh, const Grid& grid, const Restriction& restriction) {
  return restriction.none() ||
         std::any_of(restriction.any_of.begin(), restriction.any_of.end(),
                     [&](const Demands& demands) { return MayMeet(mesh, grid, demands); });
}

std::string WhyUnmet(const ChoiceSpace& space, const Mesh& mesh, const Demands& demands) {
  Choice choice;
  bool exact = true;
  for (const Demand& demand : demands) {
    choice.axes.push_back(demand.axes);
    exact &= !demand.others;
  }
  std::string why = exact ? WhyIllegal(space, mesh, choice) : WhyImpossible(space, mesh, choice);
  if (!why.empty() || CanComplete(space, mesh, {}, WholeChoice(space), demands)) return why;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (!Demanded(demands, static_cast<uint8_t>(axis))) {
      absl::StrAppend(&why, why.empty() ? "" : ", ", mesh.axes[axis].name);
    }
  }
  return absl::StrCat(
      "of the axes that it does not name (", why,
      ") some fit only where it asks for other cuts, and nothing that is stored is to be "
      "replicated; name where they go");
}

bool Meets(const std::vector<Choice>& choices, const Restrictions& restrictions) {
  for (size_t e = 0; e < restrictions.size(); ++e) {
    const std::vector<Demands>& any_of = restrictions[e].any_of;
    const bool met = std::any_of(any_of.begin(), any_of.end(), [&](const Demands& demands) {
      return Meets(choices[e], demands);
    });
    if (!met && !any_of.empty()) return false;
  }
  return true;
}

PinnedElements PinnedBy(const Restrictions& restrictions) {
  PinnedElements pins;
  for (size_t e = 0; e < restrictions.size(); ++e) {
    if (restrictions[e].none()) continue;
    pins.push_back({static_cast<int>(e), restrictions[e].any_of[0]});
  }
  return pins;
}

bool NestByLevel(const Demands& demands) {
  return std::all_of(demands.begin(), demands.end(), [](const Demand& demand) {
    return std::is_sorted(demand.axes.begin(), demand.axes.end());
  });
}

bool NestByLevel(const Restrictions& restrictions) {
  return std::all_of(restrictions.begin(), restrictions.end(), [](const Restriction& restriction) {
    return std::all_of(restriction.any_of.begin(), restriction.any_of.end(),
                       [](const Demands& demands) { return NestByLevel(demands); });
  });
}

std::string Key(const Restriction& restriction) {
  std::string key = absl::StrCat(static_cast<int>(restriction.rest));
  for (const Demands& demands : restriction.any_of) {
    key += '|';
    for (const Demand& demand : demands) {
      for (uint8_t axis : demand.axes) absl::StrAppend(&key, axis, ",");
      key += demand.others ? '*' : ';';
    }
  }
  return key;
}

}  // namespace yuba::search
