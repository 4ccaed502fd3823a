// Boxes are what is read: for every operator, sample use, definition, partition and device, the
// derived read box is the bounding box of the elements that the interpreter reads.
#include "catch2/catch.hpp"
#include "opsemantics/regions/boxes.h"
#include "tests/opsemantics/support/registry.h"
#include "tests/opsemantics/support/strategies.h"

namespace yuba {
namespace {

constexpr int kDevices[] = {1, 2, 3, 5, 8};

void CheckBoxes(const Definition& definition, const NodeBoxes& boxes, int device,
                const std::vector<TensorValue>& operands) {
  const std::vector<Box> logged = LoggedBoxes(definition, boxes.ranges[device], operands);
  for (size_t i = 0; i < logged.size(); ++i) {
    const Box& reads = boxes.reads[device][i];
    if (SameSet(reads, logged[i])) continue;
    INFO("device " << device << ", operand " << i << ": derived " << ToString(reads) << ", read "
                   << ToString(logged[i]));
    CHECK(reads == logged[i]);
  }
}

int CheckDefinition(const RegistryEntry& entry) {
  const Definition& definition = entry.definition;
  INFO(entry.op << ": " << ToString(definition));
  const std::vector<TensorValue> operands = MadeUpOperands(definition, Arithmetic::kHash, 5);
  int parts = 0;
  for (int devices : kDevices) {
    const Mesh mesh = MeshOf(devices);
    std::vector<Sharding> shardings = Strategies(definition, mesh);
    if (devices == 1) shardings = {Sharding{std::vector<AxisList>(definition.indices.size())}};
    for (const Sharding& sharding : shardings) {
      INFO(devices << " devices, cut " << ShardingText(definition, sharding, mesh));
      const NodeBoxes boxes = AnalyzeNode(definition, sharding, mesh);
      for (int device = 0; device < devices; ++device) {
        if (!boxes.first[device]) continue;
        CheckBoxes(definition, boxes, device, operands);
        ++parts;
      }
    }
  }
  return parts;
}

TEST_CASE("read boxes are what the parts of every operator read") {
  int parts = 0;
  for (const RegistryEntry& entry : RegistryDefinitions()) parts += CheckDefinition(entry);
  CHECK(parts > 5000);
}

}  // namespace
}  // namespace yuba
