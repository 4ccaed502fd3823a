// The exact half of UseCosts, for two choices. A device's overlap is a product over factors.
// Factors that share no mesh axis are independent, so the sum over devices is a product of their
// sums.
#include <algorithm>
#include <vector>

#include "opsemantics/base/arithmetic.h"
#include "search/cost/use_costs.h"

namespace yuba::search {
namespace {

using AxisSet = uint64_t;

AxisSet Add(const AxisList& axes, AxisSet set) {
  for (uint8_t axis : axes) set |= AxisSet{1} << axis;
  return set;
}

// The overlaps of one factor, in elements, for all coordinates on the axes that it depends on.
struct FactorValues {
  AxisSet set = 0;              // those axes
  std::vector<int> axes;        // the same, ascending
  std::vector<int64_t> values;  // row-major by `axes`
};

class Counting {
 public:
  // Sums over the devices whose coordinates are 0 on all axes outside `counted`.
  Counting(const Mesh& mesh, AxisSet counted) : mesh_(mesh), counted_(counted) {}

  FactorValues ValuesOf(const BoxFactor& factor, const std::vector<int64_t>& dims,
                        const PartBoxes& pieces, const Choice& tensor, const Choice& node) const {
    FactorValues result;
    for (int d : factor.dims) result.set = Add(tensor.axes[d], result.set);
    for (int i : factor.indices) result.set = Add(node.axes[i], result.set);
    result.set &= counted_;
    int64_t size = 1;
    for (int axis = 0; axis < static_cast<int>(mesh_.axes.size()); ++axis) {
      if ((result.set >> axis & 1) == 0) continue;
      result.axes.push_back(axis);
      size *= mesh_.axes[axis].size;
    }
    // steps[d][axis]: what one step along the axis adds to the part number of dimension d;
    // steps[rank][axis]: to the number of the piece.
    const size_t rank = factor.dims.size();
    std::vector<std::vector<int64_t>> steps(rank + 1, std::vector<int64_t>(mesh_.axes.size(), 0));
    std::vector<int64_t> parts(rank, 1);
    for (size_t d = 0; d < rank; ++d) {
      parts[d] = AddSteps(tensor.axes[factor.dims[d]], 1, &steps[d]);
    }
    int64_t scale = 1;
    for (size_t i = factor.indices.size(); i-- > 0;) {
      scale = AddSteps(node.axes[factor.indices[i]], scale, &steps[rank]);
    }
    result.values.reserve(size);
    std::vector<int> at(result.axes.size(), 0);
    std::vector<int64_t> number(rank + 1, 0);
    for (int64_t i = 0; i < size; ++i) {
      result.values.push_back(Overlap(factor, dims, pieces, parts, number));
      for (size_t a = at.size(); a-- > 0;) {
        int axis = result.axes[a];
        bool carry = ++at[a] == mesh_.axes[axis].size;
        for (size_t n = 0; n <= rank; ++n) {
          number[n] += carry ? -steps[n][axis] * (at[a] - 1) : steps[n][axis];
        }
        if (!carry) break;
        at[a] = 0;
      }
    }
    return result;
  }

  // The sum over all counted devices of the product of the factors.
  int64_t Sum(std::vector<FactorValues> factors) const {
    int64_t sum = 1;
    AxisSet used = 0;
    while (!factors.empty()) {
      std::vector<FactorValues> group = {std::move(factors.back())};
      factors.pop_back();
      AxisSet set = group[0].set;
      for (size_t f = 0; f < factors.size();) {
        if ((factors[f].set & set) == 0) {
          ++f;
          continue;
        }
        set |= factors[f].set;
        group.push_back(std::move(factors[f]));
        factors.erase(factors.begin() + f);
        f = 0;
      }
      used |= set;
      sum = CheckedMultiply(sum, SumOfGroup(group, set));
      if (sum == 0) return 0;
    }
    for (int axis = 0; axis < static_cast<int>(mesh_.axes.size()); ++axis) {
      if ((counted_ & ~used) >> axis & 1) sum = CheckedMultiply(sum, mesh_.axes[axis].size);
    }
    return sum;
  }

 private:
  int64_t AddSteps(const AxisList& axes, int64_t scale, std::vector<int64_t>* steps) const {
    for (size_t i = axes.size(); i-- > 0;) {
      (*steps)[axes[i]] += scale;
      scale *= mesh_.axes[axes[i]].size;
    }
    return scale;
  }

  static int64_t Overlap(const BoxFactor& factor, const std::vector<int64_t>& dims,
                         const PartBoxes& pieces, const std::vector<int64_t>& parts,
                         const std::vector<int64_t>& number) {
    const size_t rank = factor.dims.size();
    const int64_t piece = number[rank];
    if (rank == 0) return pieces.exists[piece] ? 1 : 0;
    int64_t volume = 1;
    for (size_t d = 0; d < rank && volume > 0; ++d) {
      Interval have = PartOf(dims[factor.dims[d]], parts[d], number[d]);
      volume *= Intersect(have, pieces.bounds[piece * rank + d]).size();
    }
    return volume;
  }

  int64_t SumOfGroup(const std::vector<FactorValues>& group, AxisSet set) const {
    std::vector<int> axes;
    for (int axis = 0; axis < static_cast<int>(mesh_.axes.size()); ++axis) {
      if (set >> axis & 1) axes.push_back(axis);
    }
    int64_t size = 1;
    for (int axis : axes) size *= mesh_.axes[axis].size;
    std::vector<int64_t> product(size, 1);
    for (const FactorValues& factor : group) {
      std::vector<int64_t> strides(axes.size(), 0);
      int64_t stride = 1;
      for (size_t a = axes.size(); a-- > 0;) {
        if ((factor.set >> axes[a] & 1) == 0) continue;
        strides[a] = stride;
        stride *= mesh_.axes[axes[a]].size;
      }
      std::vector<int> at(axes.size(), 0);
      int64_t from = 0;
      for (int64_t i = 0; i < size; ++i) {
        product[i] *= factor.values[from];
        for (size_t a = axes.size(); a-- > 0;) {
          from += strides[a];
          if (++at[a] < mesh_.axes[axes[a]].size) break;
          from -= strides[a] * at[a];
          at[a] = 0;
        }
      }
    }
    int64_t sum = 0;
    for (int64_t value : product) sum = CheckedAdd(sum, value);
    return sum;
  }

  const Mesh& mesh_;
  const AxisSet counted_;
};

// A fast case: all parts are equal, and where the axes of a part and of a piece meet, digit by
// digit, they have equal sizes. Then a device's part and piece are nested if all digits that both
// have are equal, and have nothing in common otherwise. What is left is to count the devices on
// which these digits are equal: each pair of digits makes two axes one (union-find), or fixes an
// axis to 0.
class EvenCounting {
 public:
  EvenCounting(const Mesh& mesh, AxisSet counted) : mesh_(mesh) {
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
      equal_[axis] = static_cast<uint8_t>(axis);
    zero_ = static_cast<uint8_t>(mesh.axes.size());
    equal_[zero_] = zero_;
    for (uint8_t axis = 0; axis < zero_; ++axis) {
      if ((counted >> axis & 1) == 0) equal_[axis] = zero_;
    }
  }

  // Adds a factor of one dimension, whose part and piece are cut over these axes. False where it is
  // no such case.
  bool Add(int64_t extent, const AxisList& part, const AxisList& piece) {
    int64_t parts = 1;
    for (size_t i = 0; i < std::max(part.size(), piece.size()); ++i) {
      if (i < part.size() && i < piece.size()) {
        if (mesh_.axes[part[i]].size != mesh_.axes[piece[i]].size) return false;
        uint8_t a = Root(part[i]), b = Root(piece[i]);
        equal_[std::min(a, b)] = std::max(a, b);  // zero_ is the greatest, so it stays a root
      }
      parts *= mesh_.axes[i < part.size() ? part[i] : piece[i]].size;
    }
    if (extent % parts != 0) return false;
    common_ = CheckedMultiply(common_, extent / parts);
    return true;
  }

  int64_t Sum() {
    int64_t devices = 1;
    for (uint8_t axis = 0; axis < zero_; ++axis) {
      if (Root(axis) == axis) devices *= mesh_.axes[axis].size;
    }
    return CheckedMultiply(devices, common_);
  }

 private:
  uint8_t Root(uint8_t axis) const {
    while (equal_[axis] != axis) axis = equal_[axis];
    return axis;
  }

  const Mesh& mesh_;
  uint8_t equal_[65], zero_;  // zero_ stands for the coordinate 0
  int64_t common_ = 1;
};

}  // namespace

int64_t UseCosts::ExactBytes(const Choice& tensor, const Choice& node, int64_t* steps) {
  const NodeSide side = SideOf(GridOf(node, mesh_));
  AxisSet owners = 0;
  int64_t parts = 1;
  for (const AxisList& axes : tensor.axes) {
    owners = Add(axes, owners);
    parts *= PartCount(mesh_, axes);
  }
  AxisSet all = (AxisSet{1} << mesh_.axes.size()) - 1;
  if (side.partial && !IntoPartials()) all = owners;
  const Regions& regions = RegionsOf(side.partial);
  EvenCounting even_counting(mesh_, all);
  bool even = true;
  for (size_t f = 0; even && f < side.pieces.size(); ++f) {
    const BoxFactor& factor = regions.factors()[f];
    even = side.pieces[f]->even;
    if (!even) break;
    const AxisList none;
    int d = factor.dims[0];
    even = even_counting.Add(type_.dims[d], tensor.axes[d],
                             factor.indices.size() == 1 ? node.axes[factor.indices[0]] : none);
  }
  if (even) return CostOf(side, parts, even_counting.Sum());
  Counting counting(mesh_, all);
  std::vector<FactorValues> factors;
  for (size_t f = 0; f < side.pieces.size(); ++f) {
    factors.push_back(
        counting.ValuesOf(regions.factors()[f], type_.dims, *side.pieces[f], tensor, node));
    *steps += devices_;
  }
  return CostOf(side, parts, counting.Sum(std::move(factors)));
}

}  // namespace yuba::search
