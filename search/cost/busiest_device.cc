#include "search/cost/busiest_device.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/arithmetic.h"

namespace yuba::search {

// The parts that axes make of the extents of one factor, numbered row-major.
class BusiestDevice::Parts {
 public:
  Parts(const Mesh& mesh, const std::vector<AxisList>& lists) : mesh_(mesh) {
    for (const AxisList& list : lists) digits_.insert(digits_.end(), list.begin(), list.end());
    steps_.assign(mesh.axes.size(), 0);
    for (size_t i = digits_.size(); i-- > 0;) {
      steps_[digits_[i]] = count_;
      count_ *= mesh.axes[digits_[i]].size;
    }
  }

  int64_t count() const { return count_; }
  int64_t step(int axis) const { return steps_[axis]; }
  // The first part among those that devices of one group have: the coordinates of the part's device
  // are set to 0 on all axes of this kind and lesser ones.
  int64_t FirstInGroup(int64_t part, size_t kind) const {
    int64_t first = 0;
    for (const uint8_t axis : digits_) {
      const MeshAxis& here = mesh_.axes[axis];
      if (here.kind <= static_cast<int>(kind)) continue;
      first += part / steps_[axis] % here.size * steps_[axis];
    }
    return first;
  }

 private:
  const Mesh& mesh_;
  std::vector<uint8_t> digits_;  // axes, the most significant first
  std::vector<int64_t> steps_;   // [axis]
  int64_t count_ = 1;
};

namespace {

// Parts of a factor that have elements in common, and how many.
struct Common {
  int64_t part = 0, elements = 0;
};

// [piece]: the parts of the tensor that have elements in common with it. The tensor's dimensions
// have these extents and are cut into so many parts.
std::vector<std::vector<Common>> CommonOf(const PartBoxes& pieces,
                                          const std::vector<int64_t>& extents,
                                          const std::vector<int64_t>& parts) {
  const size_t rank = extents.size();
  std::vector<std::vector<Common>> common(pieces.count);
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    if (!pieces.exists[piece]) continue;
    std::vector<Common>& here = common[piece];
    here.push_back({0, 1});
    for (size_t d = 0; d < rank && !here.empty(); ++d) {
      const Interval& bounds = pieces.bounds[piece * rank + d];
      std::vector<Common> along;
      const int64_t begin = std::max<int64_t>(0, bounds.begin);
      for (int64_t part = extents[d] == 0 ? 0 : begin * parts[d] / extents[d]; part < parts[d];
           ++part) {
        const Interval have = PartOf(extents[d], parts[d], part);
        if (have.begin >= bounds.end) break;
        const int64_t both = Intersect(have, bounds).size();
        if (both > 0) along.push_back({part, both});
      }
      std::vector<Common> product;
      for (const Common& outer : here) {
        for (const Common& inner : along) {
          product.push_back({outer.part * parts[d] + inner.part, outer.elements * inner.elements});
        }
      }
      here = std::move(product);
    }
  }
  return common;
}

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

const BusiestDevice::FactorLevels& BusiestDevice::LevelsOf(Regions& regions, int factor,
                                                           const Choice& tensor,
                                                           const Choice& node) {
  const BoxFactor& shape = regions.factors()[factor];
  std::vector<AxisList> lists;
  for (const int d : shape.dims) lists.push_back(tensor.axes[d]);
  for (const int i : shape.indices) lists.push_back(node.axes[i]);
  auto& known = known_[&regions == &partial_];
  const auto found = known.find({factor, lists});
  if (found != known.end()) return found->second;
  const PartBoxes& pieces = regions.PiecesOf(factor, GridOf(node, mesh_));
  FactorLevels levels = LevelsOfParts(shape, pieces, lists);
  return known.emplace(std::make_pair(factor, std::move(lists)), std::move(levels)).first->second;
}

BusiestDevice::FactorLevels BusiestDevice::LevelsOfParts(const BoxFactor& factor,
                                                         const PartBoxes& pieces,
                                                         const std::vector<AxisList>& lists) const {
  const auto split = lists.begin() + static_cast<int64_t>(factor.dims.size());
  const std::vector<AxisList> of_dims(lists.begin(), split), of_indices(split, lists.end());
  const Parts shards(mesh_, of_dims), boxes(mesh_, of_indices);
  std::vector<int64_t> extents, parts;
  for (size_t d = 0; d < factor.dims.size(); ++d) {
    extents.push_back(type_.dims[factor.dims[d]]);
    parts.push_back(PartCount(mesh_, of_dims[d]));
  }
  const bool reduces = operand_ < 0;
  // What a device needs and others have: of a gather boxes of the node and shards.
  const Parts &needed = reduces ? shards : boxes, &had = reduces ? boxes : shards;
  std::vector<std::vector<Common>> common = CommonOf(pieces, extents, parts);  // [needed]
  if (reduces) {
    std::vector<std::vector<Common>> turned(shards.count());
    for (int64_t box = 0; box < pieces.count; ++box) {
      for (const Common& each : common[box]) turned[each.part].push_back({box, each.elements});
    }
    common = std::move(turned);
  }
  // By needed part, kind and first part in the group: elements and boxes that the group has.
  std::vector<std::vector<absl::flat_hash_map<int64_t, std::pair<int64_t, int64_t>>>> near(
      common.size());
  for (size_t need = 0; need < common.size(); ++need) {
    near[need].resize(kinds_);
    for (const Common& each : common[need]) {
      for (size_t kind = 0; kind < kinds_; ++kind) {
        auto& [elements, count] = near[need][kind][had.FirstInGroup(each.part, kind)];
        elements += each.elements;
        count += 1;
      }
    }
  }
  const auto levels_at = [&](int64_t need, int64_t have, int64_t shard) {
    Levels levels(2 * (kinds_ + 1) + 1, 0);
    for (const Common& each : common[need]) {
      if (each.part != have) continue;
      levels[0] = each.elements;
      levels[kinds_ + 1] = 1;
    }
    for (size_t kind = 0; kind < kinds_; ++kind) {
      const auto found = near[need][kind].find(had.FirstInGroup(have, kind));
      if (found == near[need][kind].end()) continue;
      levels[1 + kind] = found->second.first;
      levels[kinds_ + 2 + kind] = found->second.second;
    }
    int64_t volume = 1;
    for (size_t d = extents.size(); d-- > 0; shard /= parts[d]) {
      volume *= PartOf(extents[d], parts[d], shard % parts[d]).size();
    }
    levels.back() = volume;
    return levels;
  };
  FactorLevels result;
  for (size_t axis = 0; axis < mesh_.axes.size(); ++axis) {
    const int number = static_cast<int>(axis);
    if (shards.step(number) > 0 || boxes.step(number) > 0) result.axes.push_back(number);
  }
  std::map<Levels, int> numbers;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, int> known;  // by needed and had part
  std::vector<int> at(result.axes.size(), 0);
  while (true) {
    int64_t need = 0, have = 0;
    for (size_t a = 0; a < at.size(); ++a) {
      need += at[a] * needed.step(result.axes[a]);
      have += at[a] * had.step(result.axes[a]);
    }
    const auto [place, is_new] = known.emplace(std::make_pair(need, have), 0);
    if (is_new) {
      const auto next = static_cast<int>(numbers.size());
      place->second =
          numbers.emplace(levels_at(need, have, reduces ? need : have), next).first->second;
    }
    result.of.push_back(place->second);
    size_t a = at.size();
    while (a > 0 && ++at[a - 1] == mesh_.axes[result.axes[a - 1]].size) at[--a] = 0;
    if (a == 0) break;
  }
  result.values.resize(numbers.size());
  for (const auto& [levels, number] : numbers) result.values[number] = levels;
  return result;
}

const BusiestDevice::FactorLevels& BusiestDevice::LevelsOfTerms(const AxisList& axes) {
  const auto [place, is_new] = repeated_.emplace(axes, FactorLevels());
  if (!is_new) return place->second;
  Levels levels(2 * (kinds_ + 1) + 1, 1);
  for (size_t kind = 0; kind < kinds_; ++kind) {
    for (const uint8_t axis : axes) {
      if (mesh_.axes[axis].kind > static_cast<int>(kind)) continue;
      levels[1 + kind] *= mesh_.axes[axis].size;
      levels[kinds_ + 2 + kind] *= mesh_.axes[axis].size;
    }
  }
  place->second.values = {std::move(levels)};
  place->second.of = {0};
  return place->second;
}

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
  std::vector<int> at(axes.size(), 0);
  while (true) {
    std::vector<int> numbers;
    for (size_t f = 0; f < group.size(); ++f) {
      int64_t place = 0;
      for (size_t a = 0; a < at.size(); ++a) place += at[a] * steps[f][a];
      numbers.push_back(group[f]->of[place]);
    }
    combinations.push_back(std::move(numbers));
    size_t a = at.size();
    while (a > 0 && ++at[a - 1] == mesh_.axes[axes[a - 1]].size) at[--a] = 0;
    if (a == 0) break;
  }
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
  int64_t longest = 0;
  for (const Levels& levels : AllCombinations(std::move(factors))) {
    longest = std::max(longest, objective_.Exchange(MovedBy(levels, owners, sums)));
  }
  return longest;
}

}  // namespace yuba::search
