#include "search/cost/cost_tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/check.h"
#include "search/cost/numbering.h"
#include "search/plan/choice_space.h"
#include "search/solve/pairwise.h"

namespace yuba::search {
namespace {

using IntervalsByDevice = std::vector<Interval>;

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
  // box(c, device) is the box of column c; weight[row][device] is 0 or 1.
  template <typename BoxOf>
  Overlaps(const TableInput& in, const std::vector<std::vector<int64_t>>& weights, const BoxOf& box)
      : devices_(in.mesh->devices()), rank_(in.type->dims.size()), weights_(weights) {
    rows_.resize(in.tensor_choices->size());
    columns_.resize(in.columns->size());
    for (size_t d = 0; d < rank_; ++d) AddDimension(in, d, box);
  }

  int64_t operator()(size_t row, size_t column) const {
    int64_t total = 0;
    product_ = weights_[row];
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

  template <typename BoxOf>
  void AddDimension(const TableInput& in, size_t d, const BoxOf& box) {
    Numbering<AxisList> row_kinds;
    for (size_t r = 0; r < rows_.size(); ++r) {
      rows_[r].push_back(row_kinds.Of((*in.tensor_choices)[r].axes[d]));
    }
    Numbering<IntervalsByDevice, std::map<IntervalsByDevice, int, LessByDevice>> column_kinds;
    for (size_t c = 0; c < columns_.size(); ++c) {
      IntervalsByDevice intervals;
      for (size_t device = 0; device < devices_; ++device) intervals.push_back(box(c, device)[d]);
      columns_[c].push_back(column_kinds.Of(intervals));
    }
    Dimension dimension;
    dimension.column_kinds = column_kinds.things().size();
    for (const AxisList& list : row_kinds.things()) {
      IntervalsByDevice have;
      for (size_t device = 0; device < devices_; ++device) {
        have.push_back(PartInterval(*in.mesh, list, in.type->dims[d], static_cast<int>(device)));
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
  const std::vector<std::vector<int64_t>>& weights_;  // [row][device]
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<size_t>> rows_, columns_;  // [row or column][dimension]: kind
  mutable std::vector<int64_t> product_;
};

// [row][device]: 1 where the device is the first that has its shard, else 0.
std::vector<std::vector<int64_t>> FirstOwners(const TableInput& in) {
  std::vector<std::vector<int64_t>> first_owners;
  int axes = static_cast<int>(in.mesh->axes.size());
  for (const Choice& choice : *in.tensor_choices) {
    std::vector<bool> used(axes, false);
    for (const AxisList& list : choice.axes) {
      for (uint8_t axis : list) used[axis] = true;
    }
    std::vector<int64_t> first_owner;
    for (int device = 0; device < in.mesh->devices(); ++device) {
      bool first = true;
      for (int axis = 0; axis < axes; ++axis) {
        if (!used[axis] && in.mesh->coordinate(device, axis) != 0) first = false;
      }
      first_owner.push_back(first ? 1 : 0);
    }
    first_owners.push_back(std::move(first_owner));
  }
  return first_owners;
}

// [row]: the elements of all devices' shards together, replicas included.
std::vector<int64_t> HeldElements(const TableInput& in) {
  std::vector<int64_t> held;
  for (const Choice& choice : *in.tensor_choices) {
    int64_t total = 0;
    for (int device = 0; device < in.mesh->devices(); ++device) {
      total = CheckedAdd(total, Volume(ShardBox(*in.mesh, choice, in.type->dims, device)));
    }
    held.push_back(total);
  }
  return held;
}

// Whether the first producers of each partial write the whole tensor together. Their boxes are
// disjoint, so that volumes can be added.
bool WritesAll(const NodeBoxes& boxes, int64_t elements) {
  int64_t written = 0;
  for (size_t device = 0; device < boxes.writes.size(); ++device) {
    if (boxes.first[device]) written = CheckedAdd(written, Volume(boxes.writes[device]));
  }
  return written == CheckedMultiply(elements, boxes.partials);
}

// The elements that one device's shard, by tensor choice, has in common with what another device
// writes, by column. Counted by dimension, between the few different intervals of each.
class Meetings {
 public:
  explicit Meetings(const TableInput& in)
      : devices_(in.mesh->devices()), rank_(in.type->dims.size()), common_(rank_) {
    std::vector<Intervals> rows(rank_), columns(rank_);
    for (const Choice& choice : *in.tensor_choices) {
      for (size_t device = 0; device < devices_; ++device) {
        Add(ShardBox(*in.mesh, choice, in.type->dims, static_cast<int>(device)), &rows, &rows_);
      }
    }
    for (const NodeBoxes& boxes : *in.boxes) {
      for (const Box& written : boxes.writes) Add(written, &columns, &columns_);
    }
    for (size_t d = 0; d < rank_; ++d) {
      counts_.push_back(columns[d].things().size());
      for (const auto& [begin, end] : rows[d].things()) {
        for (const auto& [from, to] : columns[d].things()) {
          common_[d].push_back(Intersect({begin, end}, {from, to}).size());
        }
      }
    }
  }

  int64_t operator()(size_t row, size_t device, size_t column, size_t producer) const {
    const size_t* a = rows_.data() + (row * devices_ + device) * rank_;
    const size_t* b = columns_.data() + (column * devices_ + producer) * rank_;
    int64_t elements = 1;
    for (size_t d = 0; d < rank_; ++d) elements *= common_[d][a[d] * counts_[d] + b[d]];
    return elements;
  }

 private:
  using Intervals = Numbering<std::pair<int64_t, int64_t>>;

  void Add(const Box& box, std::vector<Intervals>* intervals, std::vector<size_t>* codes) {
    for (size_t d = 0; d < rank_; ++d) {
      codes->push_back((*intervals)[d].Of({box[d].begin, box[d].end}));
    }
  }

  const size_t devices_, rank_;
  std::vector<std::vector<int64_t>> common_;  // [dimension][interval of rows, of columns]
  std::vector<size_t> counts_;                // [dimension]: how many intervals columns have
  std::vector<size_t> rows_, columns_;        // [row or column][device][dimension]: interval
};

// The elements that have to arrive, at their own device or not. Each element that some producer
// writes counts once for each partial that it has, at its first owner; where the node has one
// partial only, at every owner. Where it has several, the replicas count besides
// (`held_elsewhere`), which other owners take from first owners.
int64_t Expected(const Meetings& meetings, const NodeBoxes& boxes, size_t row, size_t column,
                 int64_t held_elsewhere, const std::vector<int64_t>& first_owner) {
  int64_t total = boxes.partials > 1 ? held_elsewhere : 0;
  for (size_t device = 0; device < first_owner.size(); ++device) {
    if (boxes.partials > 1 && first_owner[device] == 0) continue;
    for (size_t producer = 0; producer < boxes.writes.size(); ++producer) {
      if (boxes.first[producer]) total += meetings(row, device, column, producer);
    }
  }
  return total;
}

}  // namespace

std::vector<int64_t> GatherTable(const TableInput& input, int operand) {
  std::vector<std::vector<int64_t>> all(input.tensor_choices->size(),
                                        std::vector<int64_t>(input.mesh->devices(), 1));
  Overlaps overlaps(input, all, [&](size_t column, size_t device) -> const Box& {
    return (*input.boxes)[column].reads[device][operand];
  });
  int64_t size = ByteSize(input.type->type);
  std::vector<int64_t> cells(input.tensor_choices->size() * input.node_choices->size(), 0);
  for (size_t c = 0; c < input.columns->size(); ++c) {
    int64_t read = 0;
    for (const std::vector<Box>& reads : (*input.boxes)[c].reads) {
      if (!IsEmpty(reads[operand])) read = CheckedAdd(read, Volume(reads[operand]));
    }
    for (size_t r = 0; r < input.tensor_choices->size(); ++r) {
      cells[r * input.node_choices->size() + (*input.columns)[c]] =
          CheckedMultiply(read - overlaps(r, c), size);
    }
  }
  return cells;
}

std::vector<int64_t> ReduceTable(const TableInput& input) {
  std::vector<std::vector<int64_t>> first_owners = FirstOwners(input);
  std::vector<std::vector<int64_t>> all(first_owners.size(),
                                        std::vector<int64_t>(input.mesh->devices(), 1));
  auto writes = [&](size_t column, size_t device) -> const Box& {
    return (*input.boxes)[column].writes[device];
  };
  Overlaps at_first_owners(input, first_owners, writes), at_owners(input, all, writes);
  std::vector<int64_t> held = HeldElements(input);
  int64_t elements = ElementCount(*input.type);
  absl::optional<Meetings> meetings;
  std::vector<int64_t> cells(first_owners.size() * input.node_choices->size(), 0);
  for (size_t c = 0; c < input.columns->size(); ++c) {
    const NodeBoxes& boxes = (*input.boxes)[c];
    bool writes_all = WritesAll(boxes, elements);
    if (!writes_all && !meetings.has_value()) meetings.emplace(input);
    int64_t size = ReducedElementSize(input.type->type, boxes.partials);
    for (size_t r = 0; r < first_owners.size(); ++r) {
      int64_t expected;
      if (!writes_all)
        expected = Expected(*meetings, boxes, r, c, held[r] - elements, first_owners[r]);
      else if (boxes.partials == 1)
        expected = held[r];
      else
        expected = CheckedMultiply(elements, boxes.partials) + held[r] - elements;
      int64_t in_place = boxes.partials == 1 ? at_owners(r, c) : at_first_owners(r, c);
      cells[r * input.node_choices->size() + (*input.columns)[c]] =
          CheckedMultiply(expected - in_place, size);
    }
  }
  return cells;
}

std::vector<int64_t> PartialsTable(const TableInput& input) {
  std::vector<std::vector<int64_t>> all(input.tensor_choices->size(),
                                        std::vector<int64_t>(input.mesh->devices(), 1));
  Overlaps overlaps(input, all, [&](size_t column, size_t device) -> const Box& {
    return (*input.boxes)[column].writes[device];
  });
  std::vector<int64_t> cells(all.size() * input.node_choices->size(), 0);
  for (size_t c = 0; c < input.columns->size(); ++c) {
    int64_t written = 0;
    for (const Box& box : (*input.boxes)[c].writes) written = CheckedAdd(written, Volume(box));
    for (size_t r = 0; r < all.size(); ++r) {
      cells[r * input.node_choices->size() + (*input.columns)[c]] =
          CheckedMultiply(written - overlaps(r, c), ByteSize(input.type->type));
    }
  }
  return cells;
}

std::vector<int64_t> RegroupTable(const TableInput& input, int operand) {
  std::vector<std::vector<int64_t>> all(input.tensor_choices->size(),
                                        std::vector<int64_t>(input.mesh->devices(), 1));
  Overlaps overlaps(input, all, [&](size_t column, size_t device) -> const Box& {
    return (*input.boxes)[column].reads[device][operand];
  });
  const std::vector<int64_t> held = HeldElements(input);
  std::vector<int64_t> cells(all.size() * input.node_choices->size(), 0);
  for (size_t c = 0; c < input.columns->size(); ++c) {
    for (size_t r = 0; r < all.size(); ++r) {
      cells[r * input.node_choices->size() + (*input.columns)[c]] =
          CheckedMultiply(held[r] - overlaps(r, c), ByteSize(input.type->type));
    }
  }
  return cells;
}

std::vector<int64_t> GatherPartialsTable(const TableInput& input, int operand) {
  std::vector<int64_t> cells = GatherTable(input, operand);
  for (size_t r = 0; r < input.tensor_choices->size(); ++r) {
    for (const int column : *input.columns) {
      if (KeepsGroups((*input.tensor_choices)[r], (*input.node_choices)[column])) continue;
      cells[r * input.node_choices->size() + column] = kForbidden;
    }
  }
  return cells;
}

int64_t ReducedElementSize(ElementType type, int parts) {
  return ByteSize(parts > 1 ? AccumulatorType(type) : type);
}

}  // namespace yuba::search
