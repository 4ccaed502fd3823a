#include "search/plan/use_boxes.h"

#include <utility>

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

GatherBoxes GatherBoxesOf(const Definition& definition, int operand, const Mesh& mesh,
                          const Sharding& sharding, const NodeBoxes& boxes) {
  GatherBoxes use;
  use.has = Shards(mesh, sharding, definition.operands[operand]);
  for (const std::vector<Box>& of_device : boxes.reads) use.reads.push_back(of_device[operand]);
  if (!ReadsPartials(definition, operand)) return use;
  const std::vector<int> groups = PartialGroups(mesh, sharding);
  return {BoxesInGroups(use.has, groups), BoxesInGroups(use.reads, groups)};
}

ReduceBoxes ReduceBoxesOf(const Definition& definition, const Mesh& mesh, const Sharding& sharding,
                          const NodeBoxes& boxes) {
  ReduceBoxes use = {{boxes.writes, boxes.partial, boxes.partials},
                     Shards(mesh, sharding, definition.result)};
  if (!definition.partial) return use;
  const std::vector<int> groups = PartialGroups(mesh, sharding);
  use.own = BoxesInGroups(use.own, groups);
  use.producers.writes = BoxesInGroups(use.producers.writes, groups);
  return use;
}

std::vector<Moved> MovedByUse(const Definition& definition, int operand, const Mesh& mesh,
                              const Sharding& sharding, const NodeBoxes& boxes) {
  const std::vector<int> near = GroupSizes(mesh);
  if (operand >= 0) {
    const GatherBoxes use = GatherBoxesOf(definition, operand, mesh, sharding, boxes);
    return GatherMoved(use.has, use.reads, near, ByteSize(definition.operands[operand].type));
  }
  const ElementType type = definition.result.type;
  const ReduceBoxes use = ReduceBoxesOf(definition, mesh, sharding, boxes);
  return ReduceMoved(use.producers, use.own, near, ByteSize(AccumulatorType(type)), ByteSize(type));
}

}  // namespace yuba::search
