#include "search/space/symmetry.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/check.h"

namespace yuba::search {
namespace {

// The axes of `axes` by class, each of which is permuted on its own.
std::vector<std::vector<int>> Classes(const Mesh& mesh, const std::vector<int>& axes) {
  std::vector<std::vector<int>> classes;
  for (int axis : axes) {
    auto same = std::find_if(classes.begin(), classes.end(), [&](const std::vector<int>& c) {
      return mesh.axes[c[0]].axis_class() == mesh.axes[axis].axis_class();
    });
    if (same == classes.end())
      classes.push_back({axis});
    else
      same->push_back(axis);
  }
  for (std::vector<int>& c : classes) std::sort(c.begin(), c.end());
  return classes;
}

}  // namespace

std::vector<AxisPermutation> AxisSymmetries(const Mesh& mesh, const std::vector<int>& axes,
                                            int limit) {
  AxisPermutation identity(mesh.axes.size());
  std::iota(identity.begin(), identity.end(), 0);
  std::vector<AxisPermutation> all = {identity};
  for (const std::vector<int>& members : Classes(mesh, axes)) {
    std::vector<AxisPermutation> extended;
    std::vector<int> order = members;
    do {
      for (AxisPermutation permutation : all) {
        for (size_t i = 0; i < members.size(); ++i) permutation[members[i]] = order[i];
        extended.push_back(permutation);
      }
      if (static_cast<int>(extended.size()) > limit) return {identity};
    } while (std::next_permutation(order.begin(), order.end()));
    all = std::move(extended);
  }
  return all;
}

Choice RenameAxes(const Choice& choice, const AxisPermutation& permutation) {
  Choice renamed = choice;
  for (AxisList& list : renamed.axes) {
    for (uint8_t& axis : list) axis = permutation[axis];
  }
  return renamed;
}

std::string Key(const Choice& choice) {
  std::string key;
  for (const AxisList& list : choice.axes) {
    for (uint8_t axis : list) key += static_cast<char>(axis);
    key += '\xff';
  }
  return key;
}

std::vector<std::vector<int>> Images(const std::vector<Choice>& choices,
                                     const std::vector<AxisPermutation>& symmetries) {
  absl::flat_hash_map<std::string, int> position;
  for (size_t i = 0; i < choices.size(); ++i) position[Key(choices[i])] = static_cast<int>(i);
  std::vector<std::vector<int>> images;
  for (const AxisPermutation& symmetry : symmetries) {
    std::vector<int> image;
    for (const Choice& choice : choices) {
      auto found = position.find(Key(RenameAxes(choice, symmetry)));
      YUBA_CHECK(found != position.end()) << "a domain is not closed under a symmetry";
      image.push_back(found->second);
    }
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace yuba::search
