#include "search/check/legal.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/status.h"
#include "search/plan/grid.h"

namespace yuba::search {
namespace {

constexpr int64_t kMostChoices = int64_t{1} << 14;  // of one tensor or node
constexpr int64_t kMostBoxes = int64_t{1} << 24;    // of all choices of one, on all devices

struct ChoiceLister {
  const Mesh& mesh;
  const std::vector<int64_t>& extents;
  const bool nests_by_level;
  const bool may_replicate;
  std::vector<Choice> found;

  int64_t Parts(const AxisList& list) const { return PartCount(mesh, list); }

  // Whether none of the unused axes fits anywhere.
  bool Full(const Choice& choice, const std::vector<int>& unused) const {
    for (int axis : unused) {
      for (size_t e = 0; e < extents.size(); ++e) {
        if (Parts(choice.axes[e]) * mesh.axes[axis].size <= extents[e]) return false;
      }
    }
    return true;
  }

  // Gives axis `axis` and those after it to some extent each, or to none.
  void Assign(size_t axis, const Choice& choice, const std::vector<int>& unused) {
    if (axis == mesh.axes.size()) {
      if (may_replicate || Full(choice, unused)) Permute(0, choice);
      return;
    }
    for (size_t e = 0; e < extents.size(); ++e) {
      if (Parts(choice.axes[e]) * mesh.axes[axis].size > extents[e]) continue;
      Choice next = choice;
      next.axes[e].push_back(static_cast<uint8_t>(axis));
      Assign(axis + 1, next, unused);
    }
    std::vector<int> more = unused;
    more.push_back(static_cast<int>(axis));
    Assign(axis + 1, choice, more);
  }

  // All orders of the axes of extent `e` and those after it.
  void Permute(size_t e, Choice choice) {
    while (e < extents.size() && choice.axes[e].size() < 2) ++e;
    if (e == extents.size()) {
      found.push_back(std::move(choice));
      return;
    }
    do {
      Permute(e + 1, choice);
    } while (!nests_by_level &&
             std::next_permutation(choice.axes[e].begin(), choice.axes[e].end()));
  }
};

absl::Status TooLarge(const std::string& name, const char* what) {
  return ProofError("the proof is too large to replay: ", name, " has ", what);
}

// An error where there may be too many choices: each axis takes a place in one of the lists, or in
// none.
absl::Status CheckCount(const std::string& name, const Mesh& mesh,
                        const std::vector<int64_t>& extents, bool may_replicate) {
  int64_t places = std::count_if(extents.begin(), extents.end(), [](int64_t e) { return e > 1; });
  places = std::max<int64_t>(places, 1) + (may_replicate ? 1 : 0);
  int64_t count = 1;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    count *= places + static_cast<int64_t>(axis);
    if (count <= kMostChoices) continue;
    return TooLarge(name, "too many choices");
  }
  return absl::OkStatus();
}

// All ways to permute axes of one class.
std::vector<std::vector<uint8_t>> AxisRenamings(bool nests_by_level,
                                                const std::vector<int>& classes) {
  std::vector<uint8_t> axes(classes.size());
  for (size_t axis = 0; axis < axes.size(); ++axis) axes[axis] = static_cast<uint8_t>(axis);
  std::vector<std::vector<uint8_t>> renamings;
  do {
    bool equal = true;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      equal = equal && classes[axes[axis]] == classes[axis];
    }
    if (equal) renamings.push_back(axes);
  } while (!nests_by_level && axes.size() <= 6 && std::next_permutation(axes.begin(), axes.end()));
  return renamings;
}

// A choice whose axes are renamed, as a text to look it up by.
std::string KeyOf(const Choice& choice, const std::vector<uint8_t>& renaming) {
  std::string key;
  for (const AxisList& list : choice.axes) {
    for (uint8_t axis : list) key.push_back(static_cast<char>(renaming[axis] + 1));
    key.push_back(0);
  }
  return key;
}

Renamed RenamedChoices(const std::vector<Choice>& choices,
                       const std::vector<std::vector<uint8_t>>& renamings) {
  absl::flat_hash_map<std::string, int> numbers;
  for (size_t i = 0; i < choices.size(); ++i) {
    numbers[KeyOf(choices[i], renamings[0])] = static_cast<int>(i);
  }
  Renamed renamed;
  for (const std::vector<uint8_t>& renaming : renamings) {
    renamed.emplace_back();
    for (const Choice& choice : choices)
      renamed.back().push_back(numbers.at(KeyOf(choice, renaming)));
  }
  return renamed;
}

std::vector<int> LeastOfRenamed(const Renamed& renamed) {
  std::vector<int> least;
  for (int choice = 0; choice < static_cast<int>(renamed[0].size()); ++choice) {
    bool is_least = true;
    for (const std::vector<int>& to : renamed) is_least = is_least && choice <= to[choice];
    if (is_least) least.push_back(choice);
  }
  return least;
}

std::vector<int> InOrder(const std::vector<Choice>& choices) {
  std::vector<int> listed(choices.size());
  std::iota(listed.begin(), listed.end(), 0);
  std::sort(listed.begin(), listed.end(),
            [&](int a, int b) { return choices[a].axes < choices[b].axes; });
  return listed;
}

}  // namespace

ChoiceList MarkedOf(const ChoiceList& all, const std::vector<bool>& marked) {
  ChoiceList kept;
  std::vector<int> listed, number(all.choices.size(), -1);
  for (size_t choice = 0; choice < all.choices.size(); ++choice) {
    if (!marked[choice]) continue;
    number[choice] = static_cast<int>(kept.choices.size());
    kept.choices.push_back(all.choices[choice]);
  }
  Renamed renamed;
  for (const std::vector<int>& to : *all.renamed) {
    renamed.emplace_back();
    for (size_t choice = 0; choice < to.size(); ++choice) {
      if (number[choice] >= 0) renamed.back().push_back(number[to[choice]]);
    }
  }
  for (const int choice : *all.listed) {
    if (number[choice] >= 0) listed.push_back(number[choice]);
  }
  kept.least = LeastOfRenamed(renamed);
  kept.renamed = std::make_shared<const Renamed>(std::move(renamed));
  kept.listed = std::make_shared<const std::vector<int>>(std::move(listed));
  return kept;
}

ChoiceLists::ChoiceLists(const Mesh& mesh, bool nests_by_level, const std::vector<int>& classes)
    : mesh_(mesh),
      nests_by_level_(nests_by_level),
      renamings_(AxisRenamings(nests_by_level, classes)) {}

absl::StatusOr<const ChoiceList*> ChoiceLists::Of(const std::string& name,
                                                  std::vector<int64_t> extents,
                                                  bool may_replicate) {
  for (int64_t& extent : extents) extent = std::min<int64_t>(extent, mesh_.devices());
  YUBA_RETURN_IF_ERROR(CheckCount(name, mesh_, extents, may_replicate));
  ChoiceList& list = lists_[{extents, may_replicate}];
  if (list.renamed != nullptr) return &list;
  ChoiceLister lister{mesh_, extents, nests_by_level_, may_replicate, {}};
  Choice none;
  none.axes.resize(extents.size());
  lister.Assign(0, none, {});
  list.choices = std::move(lister.found);
  if (static_cast<int64_t>(list.choices.size()) > kMostBoxes / mesh_.devices()) {
    return TooLarge(name, "too many choices for so many devices");
  }
  list.renamed = std::make_shared<const Renamed>(RenamedChoices(list.choices, renamings_));
  list.least = LeastOfRenamed(*list.renamed);
  list.listed = std::make_shared<const std::vector<int>>(InOrder(list.choices));
  return &list;
}

}  // namespace yuba::search
