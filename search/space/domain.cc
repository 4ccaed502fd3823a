#include "search/space/domain.h"

#include <algorithm>
#include <limits>

#include "opsemantics/base/check.h"

namespace yuba::search {
namespace {

class Enumeration {
 public:
  Enumeration(const ChoiceSpace& space, const Mesh& mesh, const std::vector<int>& axes,
              const Choice& prefix, Nesting nesting)
      : space_(space),
        mesh_(mesh),
        axes_(axes),
        prefix_(prefix),
        nesting_(nesting),
        choice_(prefix) {
    for (const AxisList& list : prefix.axes) parts_.push_back(PartCount(mesh, list));
  }

  std::vector<Choice> Run() {
    Place(0);
    return std::move(choices_);
  }

 private:
  bool Fits(size_t extent, int axis) const {
    return space_.cuttable[extent] &&
           space_.extents[extent] / parts_[extent] >= mesh_.axes[axis].size;
  }

  bool FitsSomewhere(int axis) const {
    for (size_t e = 0; e < space_.extents.size(); ++e) {
      if (Fits(e, axis)) return true;
    }
    return false;
  }

  bool Maximal() const {
    return space_.optional || std::none_of(left_out_.begin(), left_out_.end(),
                                           [this](int axis) { return FitsSomewhere(axis); });
  }

  // The outermost position that a new axis may have in the list of this extent.
  size_t First(size_t extent) const {
    switch (nesting_) {
      case Nesting::kFree: return prefix_.axes[extent].size();
      case Nesting::kAnywhere: return 0;
      case Nesting::kLevel: return choice_.axes[extent].size();
    }
    return 0;
  }

  // Inserts the axes one after the other, at every position that the nesting allows: so every order
  // of a list is reached once.
  void Place(size_t next) {
    if (next == axes_.size()) {
      if (Maximal()) choices_.push_back(choice_);
      return;
    }
    int axis = axes_[next];
    for (size_t e = 0; e < space_.extents.size(); ++e) {
      if (!Fits(e, axis)) continue;
      AxisList& list = choice_.axes[e];
      const size_t first = First(e);
      parts_[e] *= mesh_.axes[axis].size;
      for (size_t at = first; at <= list.size(); ++at) {
        list.insert(list.begin() + at, static_cast<uint8_t>(axis));
        Place(next + 1);
        list.erase(list.begin() + at);
      }
      parts_[e] /= mesh_.axes[axis].size;
    }
    left_out_.push_back(axis);
    Place(next + 1);
    left_out_.pop_back();
  }

  const ChoiceSpace& space_;
  const Mesh& mesh_;
  const std::vector<int>& axes_;
  const Choice& prefix_;
  const Nesting nesting_;
  Choice choice_;
  std::vector<int64_t> parts_;
  std::vector<int> left_out_;
  std::vector<Choice> choices_;
};

}  // namespace

std::vector<Choice> LegalChoices(const ChoiceSpace& space, const Mesh& mesh,
                                 const std::vector<int>& axes, const Choice& prefix,
                                 Nesting nesting) {
  YUBA_CHECK(prefix.axes.size() == space.extents.size());
  return Enumeration(space, mesh, axes, prefix, nesting).Run();
}

int64_t CountChoices(const ChoiceSpace& space, int count) {
  int64_t cuttable = std::count(space.cuttable.begin(), space.cuttable.end(), true);
  if (cuttable == 0) return 1;
  if (space.optional) ++cuttable;  // leaving an axis out is like one more extent to put it
  int64_t total = 1;
  for (int i = 0; i < count; ++i) {
    if (__builtin_mul_overflow(total, cuttable + i, &total)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return total;
}

Choice Restrict(const Choice& choice, const std::vector<int>& axes) {
  Choice restricted;
  for (const AxisList& list : choice.axes) {
    AxisList kept;
    for (uint8_t axis : list) {
      if (std::find(axes.begin(), axes.end(), axis) != axes.end()) kept.push_back(axis);
    }
    restricted.axes.push_back(kept);
  }
  return restricted;
}

}  // namespace yuba::search
