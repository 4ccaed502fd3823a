#include "compiler/dump/dialect.h"

#include "absl/strings/str_cat.h"
#include "compiler/dump/definition_attr.h"
#include "compiler/dump/definition_check.h"
#include "compiler/dump/sharding_attr.h"
#include "compiler/dump/table_text.h"
#include "compiler/spmd/tables.h"
#include "llvm/ADT/TypeSwitch.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

// What mlir-tblgen generates is not written to our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
// clang-format off
// The dialect's file uses what the next one defines.
namespace yuba::compiler {
mlir::ParseResult parseSharding(mlir::OpAsmParser& parser, ShardingAttr& sharding) {
  return parser.parseAttribute(sharding);
}
void printSharding(mlir::OpAsmPrinter& printer, mlir::Operation*, ShardingAttr sharding) {
  printer << mlir::Attribute(sharding);
}
}
#include "compiler/dump/yuba_dialect.cc.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dump/yuba_attrs.cc.inc"
#define GET_OP_CLASSES
#include "compiler/dump/yuba_ops.cc.inc"
// clang-format on
#pragma GCC diagnostic pop

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
  return ParseMesh(View(program.getMesh()));
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

absl::Status CheckSharding(mlir::Operation* op, ShardingAttr sharding) {
  auto graph = op->getParentOfType<GraphOp>();
  if (!graph) return UserError("it must be in a yuba.graph");
  Mesh mesh;
  if (graph.getMesh()) {
    YUBA_ASSIGN_OR_RETURN(mesh, ParseMesh(View(*graph.getMesh())));
  }
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

absl::Status CheckDefinitionOp(DefinitionOp op) {
  YUBA_RETURN_IF_ERROR(CheckSharding(op, op.getSharding()));
  YUBA_ASSIGN_OR_RETURN(const Definition definition, DefinitionOf(op));
  YUBA_RETURN_IF_ERROR(CheckDefinition(definition));
  const std::string text = ToString(definition);
  if (text == View(op.getText())) return absl::OkStatus();
  return UserError("its definition reads ", text, "\n  and its text ", View(op.getText()));
}

}  // namespace

void YubaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dump/yuba_attrs.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dump/yuba_ops.cc.inc"
      >();
}

mlir::Attribute YubaDialect::parseAttribute(mlir::DialectAsmParser& parser, mlir::Type) const {
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word)) return {};
  if (word == "sharding") return ReadSharding(parser);
  parser.emitError(place, "no attribute of yuba is called ") << word;
  return {};
}

void YubaDialect::printAttribute(mlir::Attribute attr, mlir::DialectAsmPrinter& printer) const {
  llvm::TypeSwitch<mlir::Attribute>(attr).Case<ShardingAttr>(
      [&](auto sharding) { printer << "sharding<" << ToString(sharding) << ">"; });
}

absl::StatusOr<Definition> DefinitionOf(DefinitionOp op) {
  YUBA_ASSIGN_OR_RETURN(Definition definition, DefinitionFrom(op.getDefinition()));
  for (mlir::Value operand : op.getOperands()) {
    YUBA_ASSIGN_OR_RETURN(TensorType type,
                          TypeFrom(llvm::cast<mlir::ShapedType>(operand.getType())));
    definition.operands.push_back(std::move(type));
  }
  YUBA_ASSIGN_OR_RETURN(definition.result,
                        TypeFrom(llvm::cast<mlir::ShapedType>(op.getResult().getType())));
  return definition;
}

mlir::LogicalResult TensorOp::verify() {
  return Report(*this, CheckSharding(*this, getSharding()));
}
mlir::LogicalResult DefinitionOp::verify() { return Report(*this, CheckDefinitionOp(*this)); }
mlir::LogicalResult ProgramOp::verify() {
  return Report(*this, ParseMesh(View(getMesh())).status());
}
mlir::LogicalResult KernelOp::verify() { return Report(*this, CheckKernel(*this)); }
mlir::LogicalResult ExchangeOp::verify() { return Report(*this, CheckExchange(*this)); }

}  // namespace yuba::compiler
