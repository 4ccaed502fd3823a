// The verifiers of the dialect's operations: what an attribute says must hold in the mesh and for
// the values that the operation has.
#include "compiler/dump/definition_check.h"
#include "compiler/dump/dialect.h"
#include "compiler/dump/module.h"
#include "compiler/dump/sharding_attr.h"
#include "compiler/dump/table_attr.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

mlir::LogicalResult Report(mlir::Operation* op, const absl::Status& status) {
  if (status.ok()) return mlir::success();
  return op->emitOpError() << std::string(status.message());
}

absl::StatusOr<Mesh> MeshOf(mlir::Operation* op) {
  auto program = op->getParentOfType<ProgramOp>();
  if (!program) return UserError("it must be in a yuba.program");
  return MeshFrom(program.getMesh());
}

// The box, if it has as many dimensions as the buffer's tensor.
absl::StatusOr<program::Box> BoxFor(const Mesh& mesh, mlir::Value buffer, BoxAttr attr) {
  YUBA_ASSIGN_OR_RETURN(program::Box box, BoxFrom(mesh, attr));
  const int64_t rank = llvm::cast<mlir::ShapedType>(buffer.getType()).getRank();
  if (box.dims_size() == rank) return box;
  return UserError("a box of ", box.dims_size(), " dimensions for a tensor of ", rank);
}

// Whether no axis cuts twice; `text` is how the operation writes it.
absl::Status CheckAxes(const Mesh& mesh, const Sharding& sharding, const std::string& text) {
  std::vector<bool> used(mesh.axes.size(), false);
  for (const AxisList& list : sharding.axes) {
    for (const uint8_t axis : list) {
      if (used[axis]) return UserError(text, " uses the axis ", mesh.axes[axis].name, " twice");
      used[axis] = true;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSharding(mlir::Operation* op, const Mesh& mesh, ShardingAttr sharding) {
  YUBA_ASSIGN_OR_RETURN(const Sharding read, ShardingFrom(mesh, sharding));
  YUBA_RETURN_IF_ERROR(CheckAxes(mesh, read, absl::StrCat("the sharding ", ToString(sharding))));
  std::vector<int64_t> flat;
  for (const auto& factors : DimsOf(sharding)) {
    flat.insert(flat.end(), factors.begin(), factors.end());
  }
  const auto type = llvm::cast<mlir::ShapedType>(op->getResult(0).getType());
  if (llvm::ArrayRef<int64_t>(flat) == type.getShape()) return absl::OkStatus();
  return UserError("the sharding ", ToString(sharding), " is not one of its type");
}

// Whether `attr` is a box within what the buffer holds, on every device.
absl::Status CheckAccess(const Mesh& mesh, mlir::Value buffer, BoxAttr attr) {
  auto op = buffer.getDefiningOp<BufferOp>();
  if (!op) return UserError("its operands must be results of yuba.buffer");
  YUBA_ASSIGN_OR_RETURN(const program::Box held, BoxFor(mesh, buffer, op.getBox()));
  YUBA_ASSIGN_OR_RETURN(const program::Box box, BoxFor(mesh, buffer, attr));
  for (int device = 0; device < mesh.devices(); ++device) {
    const Box inner = BoxOn(mesh, box, device), outer = BoxOn(mesh, held, device);
    if (Contains(outer, inner)) continue;
    return UserError("on device ", device, " it touches ", ToString(inner), " of ",
                     op.getName().str(), ", which has ", ToString(outer));
  }
  return absl::OkStatus();
}

absl::Status CheckBuffer(BufferOp op) {
  YUBA_ASSIGN_OR_RETURN(const Mesh mesh, MeshOf(op));
  return BoxFor(mesh, op.getResult(), op.getBox()).status();
}

absl::Status CheckKernel(KernelOp op) {
  YUBA_ASSIGN_OR_RETURN(const Mesh mesh, MeshOf(op));
  if (op.getReads().size() != op.getBuffers().size()) {
    return UserError("it needs one box in `reads` for each buffer that it reads");
  }
  for (size_t i = 0; i < op.getBuffers().size(); ++i) {
    const auto read = llvm::cast<AccessAttr>(op.getReads()[i]);
    YUBA_RETURN_IF_ERROR(CheckAccess(mesh, op.getBuffers()[i], read.getBox()));
  }
  if (op.getWrites().size() != op.getWritten().size()) {
    return UserError("it needs one box in `writes` for each buffer that it writes");
  }
  for (size_t i = 0; i < op.getWritten().size(); ++i) {
    YUBA_RETURN_IF_ERROR(
        CheckAccess(mesh, op.getWritten()[i], llvm::cast<BoxAttr>(op.getWrites()[i])));
  }
  return BoxFrom(mesh, op.getIndices()).status();
}

absl::Status CheckExchange(ExchangeOp op) {
  YUBA_ASSIGN_OR_RETURN(const Mesh mesh, MeshOf(op));
  YUBA_RETURN_IF_ERROR(CheckAccess(mesh, op.getSource(), op.getFrom()));
  YUBA_RETURN_IF_ERROR(CheckAccess(mesh, op.getDestination(), op.getTo()));
  for (const BoundAttr table : {op.getPartialAttr(), op.getGroupAttr()}) {
    if (table) YUBA_RETURN_IF_ERROR(BoundFrom(mesh, table).status());
  }
  return op.getAxesAttr() ? AxesFrom(mesh, op.getAxesAttr()).status() : absl::OkStatus();
}

absl::Status CheckTensorOp(TensorOp op) {
  auto graph = op->getParentOfType<GraphOp>();
  if (!graph) return UserError("it must be in a yuba.graph");
  return CheckSharding(op, MeshFrom(graph.getMeshAttr()), op.getSharding());
}

absl::Status CheckDefinitionOp(DefinitionOp op) {
  auto graph = op->getParentOfType<GraphOp>();
  if (!graph) return UserError("it must be in a yuba.graph");
  const Mesh mesh = MeshFrom(graph.getMeshAttr());
  YUBA_RETURN_IF_ERROR(CheckSharding(op, mesh, op.getSharding()));
  YUBA_ASSIGN_OR_RETURN(const Definition definition, DefinitionOf(op));
  if (const PartitionAttr partition = op.getPartitionAttr()) {
    YUBA_ASSIGN_OR_RETURN(const Partition read, PartitionFrom(mesh, definition.indices, partition));
    YUBA_RETURN_IF_ERROR(
        CheckAxes(mesh, read, absl::StrCat("the partition ", ToString(partition))));
  } else if (graph.getMeshAttr()) {
    return UserError("it has no partition, but the graph has a mesh");
  }
  YUBA_RETURN_IF_ERROR(CheckDefinition(definition));
  const std::string text = ToString(definition);
  if (text == View(op.getText())) return absl::OkStatus();
  return UserError("its definition reads ", text, "\n  and its text ", View(op.getText()));
}

absl::Status CheckGraphOp(GraphOp op) {
  Model model;
  search::Plan plan;
  return ReadGraph(op, model, plan);
}

}  // namespace

mlir::LogicalResult GraphOp::verifyRegions() { return Report(*this, CheckGraphOp(*this)); }
mlir::LogicalResult ProgramOp::verifyRegions() {
  return Report(*this, ReadProgram(*this).status());
}
mlir::LogicalResult TensorOp::verify() { return Report(*this, CheckTensorOp(*this)); }
mlir::LogicalResult DefinitionOp::verify() { return Report(*this, CheckDefinitionOp(*this)); }
mlir::LogicalResult BufferOp::verify() { return Report(*this, CheckBuffer(*this)); }
mlir::LogicalResult KernelOp::verify() { return Report(*this, CheckKernel(*this)); }
mlir::LogicalResult ExchangeOp::verify() { return Report(*this, CheckExchange(*this)); }

}  // namespace yuba::compiler
