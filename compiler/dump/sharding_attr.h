// Shardings and partitions of a dump, as attributes and as text. #yuba.sharding<[4/a, 128, (3 12/bc
// 64)]> is the sharding of a tensor: its first dimension, 4 long, is cut over axis a, the second is
// whole, the third has three factors of which the middle one is cut over b and c.
// #yuba.partition<m/ab k/c> is the partition of a node: index m is cut over a and b, k over c.
//
// Axes are found in a mesh only by the functions named ...From; their errors are of the user
// (InvalidArgument). Attributes belong to their context.
#ifndef YUBA_COMPILER_DUMP_SHARDING_ATTR_H_
#define YUBA_COMPILER_DUMP_SHARDING_ATTR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/dump/mesh_attr.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {

// `dims` are the tensor's factors, [dimension], outermost first; the sharding has axes for each
// factor, in this order.
ShardingAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const Sharding& sharding,
                    const std::vector<std::vector<int64_t>>& dims);
absl::StatusOr<Sharding> ShardingFrom(const Mesh& mesh, ShardingAttr sharding);
// The factors that the sharding states, as `dims` above.
std::vector<std::vector<int64_t>> DimsOf(ShardingAttr sharding);

// The partition of a node with these indices; indices that are not cut are left out.
PartitionAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh,
                     const std::vector<Index>& indices, const Partition& partition);
absl::StatusOr<Partition> PartitionFrom(const Mesh& mesh, const std::vector<Index>& indices,
                                        PartitionAttr partition);

std::string ToString(ShardingAttr sharding);    // "[4/a, 128, (3 12/bc 64)]"
std::string ToString(PartitionAttr partition);  // "m/ab k/c"

// Read `sharding<[4/a, 128]>` and `partition<m/ab>`; null after an error, which was reported with
// its place.
ShardingAttr ReadSharding(mlir::DialectAsmParser& parser);
PartitionAttr ReadPartition(mlir::DialectAsmParser& parser);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_SHARDING_ATTR_H_
