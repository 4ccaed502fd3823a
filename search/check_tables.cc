#include "search/check_tables.h"

#include <algorithm>

namespace yuba {
namespace {

struct CutLister {
  const Mesh& mesh;
  const std::vector<int64_t>& extents;
  const std::vector<bool>& whole;
  const bool level;
  std::vector<Cut> found;

  int64_t Parts(const AxisList& list) const { return PartCount(mesh, list); }

  bool Full(const Cut& cut, const std::vector<int>& unused) const {
    for (int axis : unused) {
      for (size_t e = 0; e < extents.size(); ++e) {
        if (!whole[e] && Parts(cut.axes[e]) * mesh.axes[axis].size <= extents[e]) return false;
      }
    }
    return true;
  }

  // Gives axis `axis` and those after it to some extent each, or to none.
  void Assign(size_t axis, const Cut& cut, const std::vector<int>& unused) {
    if (axis == mesh.axes.size()) {
      if (Full(cut, unused)) Permute(0, cut);
      return;
    }
    for (size_t e = 0; e < extents.size(); ++e) {
      Cut next = cut;
      next.axes[e].push_back(static_cast<uint8_t>(axis));
      if (!whole[e] && Parts(next.axes[e]) <= extents[e]) Assign(axis + 1, next, unused);
    }
    std::vector<int> more = unused;
    more.push_back(static_cast<int>(axis));
    Assign(axis + 1, cut, more);
  }

  // All orders of the axes of extent `e` and those after it.
  void Permute(size_t e, Cut cut) {
    if (e == extents.size()) {
      found.push_back(cut);
      return;
    }
    do {
      Permute(e + 1, cut);
    } while (!level && std::next_permutation(cut.axes[e].begin(), cut.axes[e].end()));
  }
};

int64_t Common(const Box& a, const Box& b) {
  int64_t volume = 1;
  for (size_t d = 0; d < a.size(); ++d) {
    int64_t size = std::min(a[d].end, b[d].end) - std::max(a[d].begin, b[d].begin);
    if (size <= 0) return 0;
    volume *= size;
  }
  return volume;
}

// Elements that reach devices that need them and do not have them.
int64_t Fetched(const std::vector<Box>& have, const NodeBoxes& node, int operand) {
  int64_t moved = 0;
  for (size_t device = 0; device < have.size(); ++device) {
    const Box& need = node.needs[device][operand];
    moved += Volume(need) - Common(need, have[device]);
  }
  return moved;
}

// Each home takes each part of each of its elements that it has not made; with one part every owner
// is a home, with more the owners that are none copy from one. `all`: each part is made everywhere.
int64_t Delivered(const std::vector<Box>& own, const std::vector<bool>& home, const NodeBoxes& node,
                  bool all) {
  int64_t moved = 0;
  for (size_t device = 0; device < own.size(); ++device) {
    if (node.parts > 1 && !home[device]) {
      moved += Volume(own[device]);
      continue;
    }
    if (all) {
      moved += node.parts * Volume(own[device]);
    } else {
      for (size_t maker = 0; maker < own.size(); ++maker) {
        if (node.first[maker]) moved += Common(own[device], node.made[maker]);
      }
    }
    moved -= Common(own[device], node.made[device]);
  }
  return moved;
}

}  // namespace

std::vector<Cut> EveryCut(const Mesh& mesh, const std::vector<int64_t>& extents,
                          const std::vector<bool>& whole, bool level) {
  CutLister lister{mesh, extents, whole, level, {}};
  Cut none;
  none.axes.resize(extents.size());
  lister.Assign(0, none, {});
  return std::move(lister.found);
}

std::vector<Cut> EveryTensorCut(const Mesh& mesh, const TensorType& type, bool level) {
  return EveryCut(mesh, type.dims, std::vector<bool>(type.dims.size(), false), level);
}

std::vector<Cut> EveryNodeCut(const Mesh& mesh, const Definition& definition, bool level) {
  std::vector<int64_t> extents;
  for (const Index& index : definition.indices) extents.push_back(index.extent);
  std::vector<bool> whole(extents.size(), true);
  for (int index : CuttableIndices(definition)) whole[index] = false;
  return EveryCut(mesh, extents, whole, level);
}

std::vector<int64_t> EveryCost(const Mesh& mesh, const TensorType& type,
                               const std::vector<Cut>& tensor_cuts,
                               const std::vector<NodeBoxes>& node_cuts, int operand) {
  const int devices = mesh.devices();
  std::vector<std::vector<Box>> shards;
  std::vector<std::vector<bool>> homes;
  for (const Cut& cut : tensor_cuts) {
    shards.emplace_back();
    homes.emplace_back();
    for (int device = 0; device < devices; ++device) {
      Box shard = ShardBox(mesh, cut, type.dims, device);
      std::vector<Box>& before = shards.back();
      homes.back().push_back(std::find(before.begin(), before.end(), shard) == before.end());
      before.push_back(shard);
    }
  }
  std::vector<int64_t> cost;
  for (const NodeBoxes& node : node_cuts) {
    int64_t made = 0;
    for (int device = 0; device < devices; ++device) {
      if (node.first[device]) made += Volume(node.made[device]);
    }
    bool all = made == node.parts * ElementCount(type);
    ElementType moved = operand < 0 && node.parts > 1 ? AccumulatorType(type.type) : type.type;
    for (size_t t = 0; t < tensor_cuts.size(); ++t) {
      int64_t elements = operand < 0 ? Delivered(shards[t], homes[t], node, all)
                                     : Fetched(shards[t], node, operand);
      cost.push_back(elements * ByteSize(moved));
    }
  }
  return cost;
}

}  // namespace yuba
