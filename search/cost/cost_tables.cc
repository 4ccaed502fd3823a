#include "search/cost/cost_tables.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "opsemantics/base/arithmetic.h"
#include "search/cost/numbering.h"
#include "search/cost/use_costs.h"
#include "search/plan/choice_space.h"
#include "search/solve/pairwise.h"

namespace yuba::search {
namespace {

using IntervalsByDevice = std::vector<Interval>;

const Box& BoxOf(const NodeBoxes& boxes, int operand, size_t device) {
  return operand < 0 ? boxes.writes[device] : boxes.reads[device][operand];
}

struct LessByDevice {
  bool operator()(const IntervalsByDevice& a, const IntervalsByDevice& b) const {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(), [](const Interval& x, const Interval& y) {
          return std::make_pair(x.begin, x.end) < std::make_pair(y.begin, y.end);
        });
  }
};

// The elements in the intersection of a device's shard, by tensor choice, and its box, by column,
// summed over devices.
class Overlaps {
 public:
  Overlaps(const TableInput& in, const std::vector<int64_t>& dims)
      : devices_(in.mesh->devices()),
        rank_(dims.size()),
        rows_(in.tensor_choices->size()),
        columns_(in.columns->size()) {
    for (size_t d = 0; d < rank_; ++d) AddDimension(in, d, dims[d]);
  }

  // Each device counts as often as `weights` says, [device].
  int64_t Sum(size_t row, size_t column, const std::vector<int64_t>& weights) {
    int64_t total = 0;
    product_ = weights;
    for (size_t d = 0; d < rank_; ++d) {
      const Dimension& dimension = dimensions_[d];
      const int64_t* factor =
          &dimension
               .overlap[(rows_[row][d] * dimension.column_kinds + columns_[column][d]) * devices_];
      for (size_t device = 0; device < devices_; ++device) product_[device] *= factor[device];
    }
    for (int64_t volume : product_) total += volume;
    return total;
  }

 private:
  struct Dimension {
    size_t column_kinds = 0;
    std::vector<int64_t> overlap;  // [kind of row][kind of column][device]
  };

  void AddDimension(const TableInput& in, size_t d, int64_t extent) {
    Numbering<AxisList> row_kinds;
    for (size_t r = 0; r < rows_.size(); ++r) {
      rows_[r].push_back(row_kinds.Of((*in.tensor_choices)[r].axes[d]));
    }
    Numbering<IntervalsByDevice, std::map<IntervalsByDevice, int, LessByDevice>> column_kinds;
    for (size_t c = 0; c < columns_.size(); ++c) {
      IntervalsByDevice intervals;
      for (size_t device = 0; device < devices_; ++device) {
        intervals.push_back(BoxOf((*in.boxes)[c], in.operand, device)[d]);
      }
      columns_[c].push_back(column_kinds.Of(intervals));
    }
    Dimension dimension;
    dimension.column_kinds = column_kinds.things().size();
    for (const AxisList& list : row_kinds.things()) {
      IntervalsByDevice have;
      for (size_t device = 0; device < devices_; ++device) {
        have.push_back(PartInterval(*in.mesh, list, extent, static_cast<int>(device)));
      }
      for (const IntervalsByDevice& boxes : column_kinds.things()) {
        for (size_t device = 0; device < devices_; ++device) {
          dimension.overlap.push_back(Intersect(have[device], boxes[device]).size());
        }
      }
    }
    dimensions_.push_back(std::move(dimension));
  }

  const size_t devices_, rank_;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<size_t>> rows_, columns_;  // [row or column][dimension]: kind
  std::vector<int64_t> product_;                     // [device]
};

// [device]: 1 where the device is the first that has its shard, else 0.
std::vector<int64_t> FirstOwners(const Mesh& mesh, const Choice& choice) {
  std::vector<int64_t> first_owners;
  for (int device = 0; device < mesh.devices(); ++device) {
    first_owners.push_back(GroupNumber(mesh, choice, device) == 0 ? 1 : 0);
  }
  return first_owners;
}

}  // namespace

std::vector<int64_t> CostTable(const TableInput& in) {
  const Definition& definition = *in.definition;
  const bool writes = in.operand < 0, reduces = writes && !definition.partial;
  const bool regroups = !writes && CombinesPartials(definition);
  const bool in_groups = !writes && !regroups && ReadsPartials(definition, in.operand);
  const TensorType& type = writes ? definition.result : definition.operands[in.operand];
  const int64_t elements = ElementCount(type), devices = in.mesh->devices();
  // Of devices that do the same, one is the first producer, and the first owner.
  const int64_t alike = in.alike;
  const size_t width = in.node_choices->size();
  Overlaps overlaps(in, type.dims);
  const std::vector<int64_t> all_devices(devices, 1);
  std::vector<int64_t> cells(in.tensor_choices->size() * width, 0);
  std::vector<int64_t> boxes;  // [column]: elements of those of all devices, or first producers
  for (const NodeBoxes& node : *in.boxes) {
    boxes.push_back(0);
    for (int64_t device = 0; device < devices; ++device) {
      if (reduces && !node.first[device]) continue;
      boxes.back() = CheckedAdd(boxes.back(), Volume(BoxOf(node, in.operand, device)));
    }
    if (!reduces) boxes.back() = CheckedMultiply(boxes.back(), alike);
  }
  for (size_t r = 0; r < in.tensor_choices->size(); ++r) {
    const Choice& tensor = (*in.tensor_choices)[r];
    const std::vector<int64_t> first_owners = FirstOwners(*in.mesh, tensor);
    // How many devices have each element.
    const int64_t owners =
        alike * devices / std::accumulate(first_owners.begin(), first_owners.end(), int64_t{0});
    for (size_t c = 0; c < in.columns->size(); ++c) {
      const int column = (*in.columns)[c];
      int64_t& cell = cells[r * width + column];
      if (in_groups && !KeepsGroups(tensor, (*in.node_choices)[column])) {
        cell = kForbidden;
        continue;
      }
      // Partials meet at first owners, from which the other owners take the result, in its own type
      // again. One partial is the result, and all owners take it from where it is written.
      const bool partials = reduces && (*in.boxes)[c].partials > 1;
      int64_t expected = boxes[c], results = 0;
      if (partials) {
        results = CheckedMultiply(elements, owners - 1);
      } else if (reduces) {
        expected = CheckedMultiply(expected, owners);
      } else if (regroups) {
        expected = CheckedMultiply(elements, owners);
      }
      int64_t in_place = overlaps.Sum(r, c, partials ? first_owners : all_devices);
      if (!partials) in_place *= alike;
      const ElementType moved = partials ? AccumulatorType(type.type) : type.type;
      cell = CheckedAdd(CheckedMultiply(expected - in_place, in.times * ByteSize(moved)),
                        CheckedMultiply(results, in.times * ByteSize(type.type)));
    }
  }
  return cells;
}

std::vector<int64_t> TimeTable(const TableInput& in, const Objective& objective) {
  UseCosts costs(*in.definition, in.operand, *in.mesh, in.times, objective);
  const bool in_groups = in.operand >= 0 && !CombinesPartials(*in.definition) &&
                         ReadsPartials(*in.definition, in.operand);
  const size_t width = in.node_choices->size();
  std::vector<int64_t> cells(in.tensor_choices->size() * width, 0);
  int64_t steps = 0;
  for (size_t r = 0; r < in.tensor_choices->size(); ++r) {
    const Choice& tensor = (*in.tensor_choices)[r];
    for (const int column : *in.columns) {
      const Choice& node = (*in.node_choices)[column];
      const bool forbidden = in_groups && !KeepsGroups(tensor, node);
      cells[r * width + column] = forbidden ? kForbidden : costs.Exact(tensor, node, &steps);
    }
  }
  return cells;
}

}  // namespace yuba::search
