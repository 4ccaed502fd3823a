#include "search/plan/moved_by_use.h"

#include <utility>

#include "opsemantics/base/transfers.h"

namespace yuba::search {
namespace {

std::vector<Box> Shards(const Mesh& mesh, const Sharding& sharding, const TensorType& type) {
  std::vector<Box> shards;
  for (int device = 0; device < mesh.devices(); ++device) {
    shards.push_back(ShardBox(mesh, sharding, type.dims, device));
  }
  return shards;
}

// [device]: its group, where the tensor holds partials.
std::vector<int> PartialGroups(const Mesh& mesh, const Sharding& sharding) {
  std::vector<int> groups;
  for (int device = 0; device < mesh.devices(); ++device) {
    groups.push_back(GroupNumber(mesh, sharding, device));
  }
  return groups;
}

}  // namespace

std::vector<Moved> MovedByUse(const Definition& definition, int operand, const Mesh& mesh,
                              const Sharding& sharding, const NodeBoxes& boxes) {
  const std::vector<int> near = GroupSizes(mesh);
  if (operand >= 0) {
    const TensorType& type = definition.operands[operand];
    std::vector<Box> reads, have = Shards(mesh, sharding, type);
    for (const std::vector<Box>& of_device : boxes.reads) reads.push_back(of_device[operand]);
    if (ReadsPartials(definition, operand)) {
      const std::vector<int> groups = PartialGroups(mesh, sharding);
      have = BoxesInGroups(have, groups);
      reads = BoxesInGroups(reads, groups);
    }
    return GatherMoved(have, reads, near, ByteSize(type.type));
  }
  const TensorType& type = definition.result;
  std::vector<Box> own = Shards(mesh, sharding, type), writes = boxes.writes;
  if (definition.partial) {
    const std::vector<int> groups = PartialGroups(mesh, sharding);
    own = BoxesInGroups(own, groups);
    writes = BoxesInGroups(writes, groups);
  }
  return ReduceMoved({std::move(writes), boxes.partial, boxes.partials}, own, near,
                     ByteSize(AccumulatorType(type.type)), ByteSize(type.type));
}

}  // namespace yuba::search
