// The half of BusiestDevice that looks at one factor: what devices need of it, and what they and
// their groups have.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/arithmetic.h"
#include "search/cost/busiest_device.h"
#include "search/cost/coordinates.h"

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
  // The part of the devices with these coordinates on these axes.
  int64_t At(const std::vector<int>& axes, const std::vector<int>& coordinates) const {
    int64_t part = 0;
    for (size_t a = 0; a < axes.size(); ++a) part += coordinates[a] * steps_[axes[a]];
    return part;
  }
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

// The parts of the tensor become those that are listed for.
std::vector<std::vector<Common>> Turned(const std::vector<std::vector<Common>>& common,
                                        int64_t shards) {
  std::vector<std::vector<Common>> turned(shards);
  for (size_t box = 0; box < common.size(); ++box) {
    for (const Common& each : common[box]) {
      turned[each.part].push_back({static_cast<int64_t>(box), each.elements});
    }
  }
  return turned;
}

int64_t ShardElements(const std::vector<int64_t>& extents, const std::vector<int64_t>& parts,
                      int64_t shard) {
  int64_t elements = 1;
  for (size_t d = extents.size(); d-- > 0; shard /= parts[d]) {
    elements *= PartOf(extents[d], parts[d], shard % parts[d]).size();
  }
  return elements;
}

}  // namespace

// What devices need of one factor, and what their groups have of it.
class BusiestDevice::Holdings {
 public:
  // `common`: [needed part], the parts that others have with elements in common.
  Holdings(std::vector<std::vector<Common>> common, const Parts& had, size_t kinds)
      : common_(std::move(common)), had_(had), near_(common_.size()) {
    for (size_t need = 0; need < common_.size(); ++need) {
      near_[need].resize(kinds);
      for (const Common& each : common_[need]) {
        for (size_t kind = 0; kind < kinds; ++kind) {
          auto& [elements, boxes] = near_[need][kind][had.FirstInGroup(each.part, kind)];
          elements += each.elements;
          boxes += 1;
        }
      }
    }
  }

  // Of a device that needs one part, and has `have` itself. The last level is left 0.
  Levels At(int64_t need, int64_t have) const {
    const size_t kinds = near_[need].size();
    Levels levels(2 * (kinds + 1) + 1, 0);
    for (const Common& each : common_[need]) {
      if (each.part != have) continue;
      levels[0] = each.elements;
      levels[kinds + 1] = 1;
    }
    for (size_t kind = 0; kind < kinds; ++kind) {
      const auto found = near_[need][kind].find(had_.FirstInGroup(have, kind));
      if (found == near_[need][kind].end()) continue;
      levels[1 + kind] = found->second.first;
      levels[kinds + 2 + kind] = found->second.second;
    }
    return levels;
  }

 private:
  const std::vector<std::vector<Common>> common_;
  const Parts& had_;
  // [needed part][kind], by first part in the group: elements and boxes that the group has.
  std::vector<std::vector<absl::flat_hash_map<int64_t, std::pair<int64_t, int64_t>>>> near_;
};

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
  if (reduces) common = Turned(common, shards.count());
  const Holdings holdings(std::move(common), had, kinds_);
  FactorLevels result;
  for (int axis = 0; axis < static_cast<int>(mesh_.axes.size()); ++axis) {
    if (shards.step(axis) > 0 || boxes.step(axis) > 0) result.axes.push_back(axis);
  }
  std::map<Levels, int> numbers;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, int> known;  // by needed and had part
  ForEachCoordinates(mesh_, result.axes, [&](const std::vector<int>& at) {
    const int64_t need = needed.At(result.axes, at), have = had.At(result.axes, at);
    const auto [place, is_new] = known.emplace(std::make_pair(need, have), 0);
    if (is_new) {
      Levels levels = holdings.At(need, have);
      levels.back() = ShardElements(extents, parts, reduces ? need : have);
      const auto next = static_cast<int>(numbers.size());
      place->second = numbers.emplace(std::move(levels), next).first->second;
    }
    result.of.push_back(place->second);
  });
  result.values.resize(numbers.size());
  for (const auto& [levels, number] : numbers) result.values[number] = levels;
  return result;
}

void BusiestDevice::AddTerms(const AxisList& axes, Levels& levels) const {
  for (size_t kind = 0; kind < kinds_; ++kind) {
    for (const uint8_t axis : axes) {
      if (mesh_.axes[axis].kind > static_cast<int>(kind)) continue;
      levels[1 + kind] = CheckedMultiply(levels[1 + kind], mesh_.axes[axis].size);
      levels[kinds_ + 2 + kind] *= mesh_.axes[axis].size;
    }
  }
}

const BusiestDevice::FactorLevels& BusiestDevice::LevelsOfTerms(const AxisList& axes) {
  const auto [place, is_new] = repeated_.emplace(axes, FactorLevels());
  if (!is_new) return place->second;
  Levels levels(2 * (kinds_ + 1) + 1, 1);
  AddTerms(axes, levels);
  place->second.values = {std::move(levels)};
  place->second.of = {0};
  return place->second;
}

bool BusiestDevice::IsEven(Regions& regions, int factor, const Choice& node) {
  const BoxFactor& shape = regions.factors()[factor];
  if (shape.dims.size() != 1 || shape.indices.size() > 1) return false;
  const int64_t parts = shape.indices.empty() ? 1 : PartCount(mesh_, node.axes[shape.indices[0]]);
  const auto [place, is_new] = even_[&regions == &partial_].try_emplace({factor, parts}, false);
  if (is_new) place->second = regions.PiecesOf(factor, GridOf(node, mesh_)).even;
  return place->second;
}

bool BusiestDevice::EvenLevels(Regions& regions, const Choice& tensor, const Choice& node,
                               Levels& levels) {
  if (!objective_.HasSlowerOuterLinks()) return false;
  levels.assign(2 * (kinds_ + 1) + 1, 1);
  int64_t* const boxes = levels.data() + kinds_ + 1;
  int apart = -1;  // groups of lesser kinds have nothing
  const AxisList none;
  for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
    if (!IsEven(regions, static_cast<int>(f), node)) return false;
    const BoxFactor& shape = regions.factors()[f];
    const AxisList& shards = tensor.axes[shape.dims[0]];
    const AxisList& pieces = shape.indices.empty() ? none : node.axes[shape.indices[0]];
    const AxisList &needed = operand_ < 0 ? shards : pieces, &had = operand_ < 0 ? pieces : shards;
    int64_t parts = 1;
    for (size_t i = 0; i < std::max(needed.size(), had.size()); ++i) {
      const MeshAxis& axis = mesh_.axes[i < had.size() ? had[i] : needed[i]];
      parts *= axis.size;
      if (i < had.size() && i < needed.size()) {
        if (mesh_.axes[needed[i]].size != axis.size) return false;
        // A device whose coordinates on the two differ.
        if (had[i] != needed[i]) apart = std::max(apart, axis.kind);
      } else if (i < had.size()) {
        for (size_t kind = axis.kind; kind < kinds_; ++kind) boxes[1 + kind] *= axis.size;
      }
    }
    const int64_t extent = type_.dims[shape.dims[0]];
    if (extent % parts != 0) return false;
    levels[0] = CheckedMultiply(levels[0], extent / parts);
    levels.back() = CheckedMultiply(levels.back(), extent / PartCount(mesh_, shards));
  }
  const int64_t common = levels[0];  // elements of one box
  for (int level = 0; level <= static_cast<int>(kinds_); ++level) {
    if (level <= apart) boxes[level] = 0;
    levels[level] = CheckedMultiply(common, boxes[level]);
  }
  return true;
}

}  // namespace yuba::search
