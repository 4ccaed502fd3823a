// Shardings and partitions as text, read back: "[4/a, 128, (3 12/bc 64)]" is the sharding of a
// tensor, "m/ab k/c" the partition of a node.
#ifndef YUBA_COMPILER_DUMP_SHARDING_TEXT_H_
#define YUBA_COMPILER_DUMP_SHARDING_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {

struct FactoredSharding {
  std::vector<std::vector<int64_t>> dims;  // the factors of each dimension
  Sharding sharding;                       // by factor
};
absl::StatusOr<FactoredSharding> ParseSharding(const Mesh& mesh, absl::string_view text);

std::string PartitionText(const Mesh& mesh, const std::vector<Index>& indices,
                          const Partition& partition);
absl::StatusOr<Partition> ParsePartition(const Mesh& mesh, const std::vector<Index>& indices,
                                         absl::string_view text);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_SHARDING_TEXT_H_
