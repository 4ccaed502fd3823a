// Shardings and partitions of a dump, as attributes and as text. #yuba.sharding<[4/a, 128, (3 12/bc
// 64)]> is the sharding of a tensor: its first dimension, 4 long, is cut over axis a, the second is
// whole, the third has three factors of which the middle one is cut over b and c. "m/ab k/c" is the
// partition of a node: index m is cut over a and b, k over c.
//
// An attribute knows no mesh: it has the words by which a person names axes. The functions named
// ...From find the axes in a mesh; errors are of the user (InvalidArgument). Attributes belong to
// their context.
#ifndef YUBA_COMPILER_DUMP_SHARDING_ATTR_H_
#define YUBA_COMPILER_DUMP_SHARDING_ATTR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/dump/dialect.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {

AxesAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const AxisList& axes);
absl::StatusOr<AxisList> AxesFrom(const Mesh& mesh, AxesAttr axes);

// `dims` are the tensor's factors, [dimension], outermost first; the sharding has axes for each
// factor, in this order.
ShardingAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const Sharding& sharding,
                    const std::vector<std::vector<int64_t>>& dims);
absl::StatusOr<Sharding> ShardingFrom(const Mesh& mesh, ShardingAttr sharding);
// The factors that the sharding states, as `dims` above.
std::vector<std::vector<int64_t>> DimsOf(ShardingAttr sharding);

std::string ToString(AxesAttr axes);          // "ab", "data+model.1", ""
std::string ToString(ShardingAttr sharding);  // "[4/a, 128, (3 12/bc 64)]"

// Reads `sharding<[4/a, 128]>`; null after an error with its place, which was reported.
ShardingAttr ReadSharding(mlir::DialectAsmParser& parser);

// The partition of a node with these indices; indices that are not cut are left out.
std::string PartitionText(const Mesh& mesh, const std::vector<Index>& indices,
                          const Partition& partition);
absl::StatusOr<Partition> ParsePartition(const Mesh& mesh, const std::vector<Index>& indices,
                                         absl::string_view text);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_SHARDING_ATTR_H_
