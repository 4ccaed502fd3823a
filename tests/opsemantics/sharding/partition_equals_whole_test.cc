// Partition equals whole: every operator, every sample use, every definition, every partition of
// Strategies, on 2, 3, 5 and 8 devices. Each device runs its part with poison outside its read
// boxes.
#include "catch2/catch.hpp"
#include "tests/opsemantics/support/registry.h"
#include "tests/opsemantics/support/strategies.h"

namespace yuba {
namespace {

constexpr int kDevices[] = {2, 3, 5, 8};

// Partials of floats are summed in another order than the whole and rounded on the way; bf16 has 8
// bits.
double ToleranceOf(const Definition& definition) {
  double tolerance = 1e-5;
  std::vector<TensorType> types = definition.operands;
  types.push_back(definition.result);
  for (const TensorType& type : types) {
    if (IsFloat(type.type) && ByteSize(type.type) < 4) tolerance = 2e-2;
  }
  return tolerance;
}

// Returns the number of partitions that were tried.
int CheckDefinition(const RegistryEntry& entry, Arithmetic arithmetic) {
  const Definition& definition = entry.definition;
  INFO(entry.op << ": " << ToString(definition));
  const std::vector<TensorValue> operands = MadeUpOperands(definition, arithmetic, 5);
  const TensorValue whole = RunWhole(definition, arithmetic, operands);
  int partitions = 0;
  for (int devices : kDevices) {
    const Mesh mesh = MeshOf(devices);
    for (const Sharding& sharding : Strategies(definition, mesh)) {
      INFO(devices << " devices, cut " << ShardingText(definition, sharding, mesh));
      const NodeBoxes boxes = AnalyzeNode(definition, sharding, mesh);
      const TensorValue parts = RunInParts(definition, boxes, arithmetic, operands);
      CHECK(FirstDifference(whole, parts, arithmetic, ToleranceOf(definition)) == "");
      ++partitions;
    }
  }
  return partitions;
}

void CheckRegistry(Arithmetic arithmetic) {
  int partitions = 0;
  for (const RegistryEntry& entry : RegistryDefinitions())
    partitions += CheckDefinition(entry, arithmetic);
  CHECK(partitions > 1000);  // the walk has found the operators
}

TEST_CASE("every operator has a sample use") {
  CHECK(OperatorsWithoutUse() == std::vector<std::string>{});
}

TEST_CASE("partition equals whole, bit for bit in hash arithmetic") {
  CheckRegistry(Arithmetic::kHash);
}

TEST_CASE("partition equals whole, in floats up to rounding") { CheckRegistry(Arithmetic::kFloat); }

}  // namespace
}  // namespace yuba
