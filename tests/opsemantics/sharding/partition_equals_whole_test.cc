// Partition equals whole: every operator, every sample use, every definition, every cut, on 2, 3, 5
// and 8 devices. Each device runs its part with poison outside its read boxes.
#include "catch2/catch.hpp"
#include "tests/opsemantics/support/registry.h"
#include "tests/opsemantics/support/strategies.h"

namespace yuba {
namespace {

constexpr int kDevices[] = {2, 3, 5, 8};

// Parts of floats are summed in another order and rounded to their type on the way. bf16 keeps 8
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

// The number of shardings tried.
int CheckDefinition(const RegistryEntry& entry, Arithmetic arithmetic) {
  const Definition& definition = entry.definition;
  INFO(entry.op << ": " << ToString(definition));
  const std::vector<TensorValue> operands = MadeUpOperands(definition, arithmetic, 5);
  const TensorValue whole = RunWhole(definition, arithmetic, operands);
  int shardings = 0;
  for (int devices : kDevices) {
    const Mesh mesh = MeshOf(devices);
    for (const Sharding& sharding : Strategies(definition, mesh)) {
      INFO(devices << " devices, cut " << ShardingText(definition, sharding, mesh));
      const NodeBoxes boxes = AnalyzeNode(definition, sharding, mesh);
      const TensorValue parts = RunInParts(definition, boxes, arithmetic, operands);
      CHECK(FirstDifference(whole, parts, arithmetic, ToleranceOf(definition)) == "");
      ++shardings;
    }
  }
  return shardings;
}

void CheckRegistry(Arithmetic arithmetic) {
  int shardings = 0;
  for (const RegistryEntry& entry : RegistryDefinitions())
    shardings += CheckDefinition(entry, arithmetic);
  CHECK(shardings > 1000);  // the walk has found the operators
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
