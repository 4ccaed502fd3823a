#include "search/cost/busiest_device.h"

#include <algorithm>

#include "opsemantics/base/arithmetic.h"
#include "search/cost/coordinates.h"

namespace yuba::search {
namespace {

void SortUnique(std::vector<std::vector<int64_t>>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

BusiestDevice::BusiestDevice(const Definition& definition, int operand, const Mesh& mesh,
                             const Objective& objective, Regions& whole, Regions& partial)
    : definition_(definition),
      operand_(operand),
      mesh_(mesh),
      objective_(objective),
      type_(operand < 0 ? definition.result : definition.operands[operand]),
      kinds_(mesh.kinds()),
      whole_(whole),
      partial_(partial) {}

std::vector<BusiestDevice::Levels> BusiestDevice::Multiplied(
    const std::vector<const FactorLevels*>& group) const {
  if (group.size() == 1) return group[0]->values;
  std::vector<int> axes;
  for (const FactorLevels* factor : group) {
    axes.insert(axes.end(), factor->axes.begin(), factor->axes.end());
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  std::vector<std::vector<int64_t>> steps;  // [factor][axis]: in FactorLevels::of
  for (const FactorLevels* factor : group) {
    std::vector<int64_t> here(axes.size(), 0);
    int64_t step = 1;
    for (size_t a = factor->axes.size(); a-- > 0; step *= mesh_.axes[factor->axes[a]].size) {
      here[std::lower_bound(axes.begin(), axes.end(), factor->axes[a]) - axes.begin()] = step;
    }
    steps.push_back(std::move(here));
  }
  std::vector<std::vector<int>> combinations;  // of numbers in FactorLevels::values
  ForEachCoordinates(mesh_, axes, [&](const std::vector<int>& at) {
    std::vector<int> numbers;
    for (size_t f = 0; f < group.size(); ++f) {
      int64_t place = 0;
      for (size_t a = 0; a < at.size(); ++a) place += at[a] * steps[f][a];
      numbers.push_back(group[f]->of[place]);
    }
    combinations.push_back(std::move(numbers));
  });
  std::sort(combinations.begin(), combinations.end());
  combinations.erase(std::unique(combinations.begin(), combinations.end()), combinations.end());
  std::vector<Levels> products;
  for (const std::vector<int>& numbers : combinations) {
    Levels product(2 * (kinds_ + 1) + 1, 1);
    for (size_t f = 0; f < group.size(); ++f) {
      const Levels& levels = group[f]->values[numbers[f]];
      for (size_t i = 0; i < product.size(); ++i) {
        product[i] = CheckedMultiply(product[i], levels[i]);
      }
    }
    products.push_back(std::move(product));
  }
  SortUnique(products);
  return products;
}

std::vector<BusiestDevice::Levels> BusiestDevice::AllCombinations(
    std::vector<const FactorLevels*> factors) const {
  std::vector<Levels> all = {Levels(2 * (kinds_ + 1) + 1, 1)};
  while (!factors.empty()) {
    std::vector<const FactorLevels*> group = {factors.back()};
    factors.pop_back();
    std::vector<bool> has(mesh_.axes.size(), false);
    const auto add_axes = [&](const FactorLevels& factor) {
      for (const int axis : factor.axes) has[axis] = true;
    };
    add_axes(*group[0]);
    for (size_t f = 0; f < factors.size();) {
      const std::vector<int>& axes = factors[f]->axes;
      if (std::none_of(axes.begin(), axes.end(), [&](int axis) { return has[axis]; })) {
        ++f;
        continue;
      }
      add_axes(*factors[f]);
      group.push_back(factors[f]);
      factors.erase(factors.begin() + static_cast<int64_t>(f));
      f = 0;
    }
    const std::vector<Levels> values = Multiplied(group);
    std::vector<Levels> products;
    for (const Levels& a : all) {
      for (const Levels& b : values) {
        products.push_back(a);
        for (size_t i = 0; i < a.size(); ++i) {
          products.back()[i] = CheckedMultiply(a[i], b[i]);
        }
      }
    }
    SortUnique(products);
    all = std::move(products);
  }
  return all;
}

Moved BusiestDevice::MovedBy(const Levels& levels, const std::vector<int64_t>& owners,
                             bool sums) const {
  Moved moved;
  const int64_t size = ByteSize(type_.type), partial_size = ByteSize(AccumulatorType(type_.type));
  for (size_t kind = 0; kind < kinds_; ++kind) {
    const int64_t elements = levels[1 + kind] - levels[kind];
    moved.bytes[kind] = elements * size;
    moved.messages[kind] = levels[kinds_ + 2 + kind] - levels[kinds_ + 1 + kind];
    if (!sums) continue;
    const int64_t others = owners[kind] - (kind == 0 ? 1 : owners[kind - 1]);
    const bool none = levels.back() == 0;
    moved.bytes[kind] = CeilDiv(elements, owners.back()) * partial_size +
                        CeilDiv(CheckedMultiply(levels.back(), others), owners.back()) * size;
    moved.messages[kind] += none ? 0 : others;
  }
  return moved;
}

int64_t BusiestDevice::Exchange(const Choice& tensor, const Choice& node) {
  int64_t terms = 1;  // into which reductions are cut
  for (size_t i = 0; i < node.axes.size(); ++i) {
    if (definition_.indices[i].reduction) terms *= PartCount(mesh_, node.axes[i]);
  }
  const bool sums = operand_ < 0 && terms > 1;
  Regions& regions = sums ? partial_ : whole_;
  std::vector<int64_t> owners(kinds_, 1);  // [kind]: of one element, in a group
  std::vector<bool> cuts(mesh_.axes.size(), false);
  for (const AxisList& axes : tensor.axes) {
    for (const uint8_t axis : axes) cuts[axis] = true;
  }
  for (size_t axis = 0; axis < cuts.size(); ++axis) {
    for (size_t kind = mesh_.axes[axis].kind; !cuts[axis] && kind < kinds_; ++kind) {
      owners[kind] *= mesh_.axes[axis].size;
    }
  }
  // Of several owners each combines a slice, and slices are rounded: then devices are not compared
  // by how far away things are alone.
  Levels even;
  if ((!sums || owners.back() == 1) && EvenLevels(regions, tensor, node, even)) {
    for (size_t i = 0; sums && i < node.axes.size(); ++i) {
      if (definition_.indices[i].reduction) AddTerms(node.axes[i], even);
    }
    return objective_.Exchange(MovedBy(even, owners, sums));
  }
  std::vector<const FactorLevels*> factors;
  std::vector<bool> counted(node.axes.size(), false);
  for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
    factors.push_back(&LevelsOf(regions, static_cast<int>(f), tensor, node));
    for (const int index : regions.factors()[f].indices) counted[index] = true;
  }
  for (size_t i = 0; sums && i < node.axes.size(); ++i) {
    if (definition_.indices[i].reduction && !counted[i] && !node.axes[i].empty()) {
      factors.push_back(&LevelsOfTerms(node.axes[i]));
    }
  }
  int64_t longest = 0;
  for (const Levels& levels : AllCombinations(std::move(factors))) {
    longest = std::max(longest, objective_.Exchange(MovedBy(levels, owners, sums)));
  }
  return longest;
}

}  // namespace yuba::search
