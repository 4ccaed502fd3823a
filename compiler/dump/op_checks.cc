// The verifiers of the dialect's operations: what an attribute says must hold in the mesh and for
// the values that the operation has.
#include "compiler/dump/definition_check.h"
#include "compiler/dump/dialect.h"
#include "compiler/dump/sharding_attr.h"
#include "compiler/dump/table_text.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

absl::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }

mlir::LogicalResult Report(mlir::Operation* op, const absl::Status& status) {
  if (status.ok()) return mlir::success();
  return op->emitOpError() << std::string(status.message());
}

absl::StatusOr<Mesh> MeshOf(mlir::Operation* op) {
  auto program = op->getParentOfType<ProgramOp>();
  if (!program) return UserError("it must be in a yuba.program");
  return MeshFrom(program.getMesh());
}

absl::StatusOr<program::Box> BoxFor(const Mesh& mesh, llvm::StringRef text, size_t rank) {
  YUBA_ASSIGN_OR_RETURN(program::Box box, ParseBox(mesh, View(text)));
  if (!IsWellFormed(mesh, box)) {
    return UserError("a table of '", View(text), "' has not one number for each place of its axes");
  }
  if (static_cast<size_t>(box.dims_size()) != rank) {
    return UserError("'", View(text), "' has not ", rank, " dimensions");
  }
  return box;
}

absl::Status CheckSharding(mlir::Operation* op, const Mesh& mesh, ShardingAttr sharding) {
  YUBA_RETURN_IF_ERROR(ShardingFrom(mesh, sharding).status());
  std::vector<int64_t> flat;
  for (const auto& factors : DimsOf(sharding)) {
    flat.insert(flat.end(), factors.begin(), factors.end());
  }
  const auto type = llvm::cast<mlir::ShapedType>(op->getResult(0).getType());
  if (llvm::ArrayRef<int64_t>(flat) == type.getShape()) return absl::OkStatus();
  return UserError("the sharding ", ToString(sharding), " is not one of its type");
}

// Whether `text` is a box within what the buffer holds, on every device.
absl::Status CheckAccess(const Mesh& mesh, mlir::Value buffer, llvm::StringRef text) {
  auto op = buffer.getDefiningOp<BufferOp>();
  if (!op) return UserError("its operands must be results of yuba.buffer");
  const size_t rank = llvm::cast<mlir::ShapedType>(buffer.getType()).getRank();
  YUBA_ASSIGN_OR_RETURN(const program::Box held, BoxFor(mesh, op.getBox(), rank));
  YUBA_ASSIGN_OR_RETURN(const program::Box box, BoxFor(mesh, text, rank));
  for (int device = 0; device < mesh.devices(); ++device) {
    const Box inner = BoxOn(mesh, box, device), outer = BoxOn(mesh, held, device);
    if (Contains(outer, inner)) continue;
    return UserError("on device ", device, " it touches ", ToString(inner), " of ",
                     View(op.getName()), ", which has ", ToString(outer));
  }
  return absl::OkStatus();
}

absl::Status CheckKernel(KernelOp op) {
  YUBA_ASSIGN_OR_RETURN(const Mesh mesh, MeshOf(op));
  if (op.getReads().size() != op.getOperands().size() - 1) {
    return UserError("it needs one box in `reads` for each buffer that it reads");
  }
  for (size_t i = 0; i + 1 < op.getOperands().size(); ++i) {
    const auto box = llvm::cast<mlir::StringAttr>(op.getReads()[i]).getValue();
    YUBA_RETURN_IF_ERROR(CheckAccess(mesh, op.getOperand(i), box));
  }
  YUBA_RETURN_IF_ERROR(CheckAccess(mesh, op.getWritten(), op.getWrites()));
  return ParseBox(mesh, View(op.getIndices())).status();
}

absl::Status CheckExchange(ExchangeOp op) {
  YUBA_ASSIGN_OR_RETURN(const Mesh mesh, MeshOf(op));
  YUBA_RETURN_IF_ERROR(CheckAccess(mesh, op.getSource(), op.getFrom()));
  YUBA_RETURN_IF_ERROR(CheckAccess(mesh, op.getDestination(), op.getTo()));
  YUBA_RETURN_IF_ERROR(ParseAxes(mesh, View(op.getAxes())).status());
  for (const auto& table : {op.getPartial(), op.getGroup()}) {
    if (table) YUBA_RETURN_IF_ERROR(ParseBound(mesh, View(*table)).status());
  }
  return absl::OkStatus();
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
    YUBA_RETURN_IF_ERROR(PartitionFrom(mesh, definition.indices, partition).status());
  } else if (graph.getMeshAttr()) {
    return UserError("it has no partition, but the graph has a mesh");
  }
  YUBA_RETURN_IF_ERROR(CheckDefinition(definition));
  const std::string text = ToString(definition);
  if (text == View(op.getText())) return absl::OkStatus();
  return UserError("its definition reads ", text, "\n  and its text ", View(op.getText()));
}

}  // namespace

mlir::LogicalResult TensorOp::verify() { return Report(*this, CheckTensorOp(*this)); }
mlir::LogicalResult DefinitionOp::verify() { return Report(*this, CheckDefinitionOp(*this)); }
mlir::LogicalResult KernelOp::verify() { return Report(*this, CheckKernel(*this)); }
mlir::LogicalResult ExchangeOp::verify() { return Report(*this, CheckExchange(*this)); }

}  // namespace yuba::compiler
