// Products of the boxes of factors against the boxes of AnalyzeNode: every operator, every
// partition, every device.
#include "opsemantics/regions/box_factors.h"

#include <catch2/catch.hpp>
#include <set>

#include "opsemantics/sharding/sharding.h"
#include "tests/opsemantics/support/registry.h"
#include "tests/opsemantics/support/strategies.h"

namespace yuba {
namespace {

// The box of the part with these ranges, as the product of its factors; all intervals are empty
// where one factor is empty.
Box Product(const BoxFactors& factors, size_t rank, const std::vector<Interval>& ranges) {
  Box box(rank);
  bool empty = false;
  for (size_t f = 0; f < factors.factors().size(); ++f) {
    const BoxFactor& factor = factors.factors()[f];
    std::vector<Interval> own;
    for (const int index : factor.indices) own.push_back(ranges[index]);
    const BoxFactors::Piece bounds = factors.Of(static_cast<int>(f), own);
    empty = empty || bounds.empty;
    for (size_t d = 0; d < factor.dims.size(); ++d) box[factor.dims[d]] = bounds.box[d];
  }
  return empty ? Box(rank, Interval{0, 0}) : box;
}

TEST_CASE("every dimension is in one factor, an index in at most one") {
  for (const RegistryEntry& entry : RegistryDefinitions()) {
    for (int o = -1; o < static_cast<int>(entry.definition.operands.size()); ++o) {
      INFO(entry.op << " operand " << o);
      const BoxFactors factors(entry.definition, o, false);
      std::multiset<int> indices, dims;
      for (const BoxFactor& factor : factors.factors()) {
        indices.insert(factor.indices.begin(), factor.indices.end());
        dims.insert(factor.dims.begin(), factor.dims.end());
      }
      for (const int index : indices) CHECK(indices.count(index) == 1);
      const size_t rank =
          o < 0 ? entry.definition.result.dims.size() : entry.definition.operands[o].dims.size();
      CHECK(dims.size() == rank);
      for (const int dim : dims) CHECK(dims.count(dim) == 1);
    }
  }
}

TEST_CASE("products of parts of factors are the boxes of parts") {
  int compared = 0;
  for (const RegistryEntry& entry : RegistryDefinitions()) {
    const Definition& definition = entry.definition;
    for (const int devices : {2, 3, 8}) {
      const Mesh mesh = MeshOf(devices);
      for (const Sharding& sharding : Strategies(definition, mesh)) {
        INFO(entry.op << " " << ShardingText(definition, sharding, mesh));
        const NodeBoxes node = AnalyzeNode(definition, sharding, mesh);
        for (int o = -1; o < static_cast<int>(definition.operands.size()); ++o) {
          const BoxFactors factors(definition, o, node.partials > 1);
          for (int device = 0; device < devices; ++device) {
            const Box& box = o < 0 ? node.writes[device] : node.reads[device][o];
            const Box product = Product(factors, box.size(), node.ranges[device]);
            CHECK(SameSet(product, box));
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared > 10000);
}

}  // namespace
}  // namespace yuba
