#include "compiler/dump/sharding_attr.h"

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

ShardingAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const Sharding& sharding,
                    const std::vector<std::vector<int64_t>>& dims) {
  llvm::SmallVector<DimensionAttr> attrs;
  size_t flat = 0;
  for (const std::vector<int64_t>& factors : dims) {
    llvm::SmallVector<AxesAttr> axes;
    for (size_t f = 0; f < factors.size(); ++f) {
      YUBA_CHECK(flat < sharding.axes.size());
      axes.push_back(AttrOf(context, mesh, sharding.axes[flat++]));
    }
    attrs.push_back(DimensionAttr::get(context, factors, axes));
  }
  return ShardingAttr::get(context, attrs);
}

absl::StatusOr<Sharding> ShardingFrom(const Mesh& mesh, ShardingAttr sharding) {
  Sharding result;
  for (DimensionAttr dim : sharding.getDims()) {
    for (AxesAttr axes : dim.getAxes()) {
      YUBA_ASSIGN_OR_RETURN(result.axes.emplace_back(), AxesFrom(mesh, axes));
    }
  }
  return result;
}

std::vector<std::vector<int64_t>> DimsOf(ShardingAttr sharding) {
  std::vector<std::vector<int64_t>> dims;
  for (DimensionAttr dim : sharding.getDims()) {
    dims.emplace_back(dim.getFactors().begin(), dim.getFactors().end());
  }
  return dims;
}

PartitionAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh,
                     const std::vector<Index>& indices, const Partition& partition) {
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<AxesAttr> axes;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (partition.axes[i].empty()) continue;
    names.push_back(mlir::StringAttr::get(context, indices[i].name));
    axes.push_back(AttrOf(context, mesh, partition.axes[i]));
  }
  return PartitionAttr::get(context, names, axes);
}

absl::StatusOr<Partition> PartitionFrom(const Mesh& mesh, const std::vector<Index>& indices,
                                        PartitionAttr partition) {
  Partition result;
  result.axes.resize(indices.size());
  size_t next = 0;  // names need not be distinct, their order is the indices'
  for (size_t i = 0; i < partition.getIndices().size(); ++i) {
    const std::string name = partition.getIndices()[i].str();
    while (next < indices.size() && indices[next].name != name) ++next;
    if (next == indices.size()) {
      return UserError("no index for ", name, " of the partition ", ToString(partition));
    }
    YUBA_ASSIGN_OR_RETURN(result.axes[next++], AxesFrom(mesh, partition.getAxes()[i]));
  }
  return result;
}

}  // namespace yuba::compiler
