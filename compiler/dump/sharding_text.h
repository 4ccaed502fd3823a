// Shardings and partitions of a dump, from text. "[4/a, 128, (3 12/bc 64)]" is the sharding of a
// tensor: its first dimension, 4 long, is cut over axis a, the second is whole, the third has three
// factors of which the middle one is cut over b and c. "m/ab k/c" is the partition of a node: index
// m is cut over a and b, k over c. A sharding is written by ToString in opsemantics/sharding.
// Errors are of the user (InvalidArgument) and quote what was not understood.
#ifndef YUBA_COMPILER_DUMP_SHARDING_TEXT_H_
#define YUBA_COMPILER_DUMP_SHARDING_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {

struct FactoredSharding {
  std::vector<std::vector<int64_t>> dims;  // [dimension]: its factors, outermost first
  Sharding sharding;                       // axes for each factor, in the order of `dims`
};
absl::StatusOr<FactoredSharding> ParseSharding(const Mesh& mesh, absl::string_view text);

// The partition of a node with these indices; indices that are not cut are left out.
std::string PartitionText(const Mesh& mesh, const std::vector<Index>& indices,
                          const Partition& partition);
absl::StatusOr<Partition> ParsePartition(const Mesh& mesh, const std::vector<Index>& indices,
                                         absl::string_view text);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_SHARDING_TEXT_H_
