#include "compiler/dump/dialect.h"

#include "compiler/dump/definition_attr.h"
#include "llvm/ADT/TypeSwitch.h"
#include "opsemantics/base/status.h"

// The generated operations call these for an attribute that has its name in front everywhere.
namespace yuba::compiler {
template <typename Attr>
mlir::ParseResult parseNamed(mlir::OpAsmParser& parser, Attr& attr) {
  return parser.parseAttribute(attr);
}
void printNamed(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Attribute attr) {
  printer << attr;
}
// The indices of a function: `(m:256, k:128+)`.
mlir::ParseResult parseIndices(mlir::OpAsmParser& parser, mlir::ArrayAttr& indices) {
  llvm::SmallVector<mlir::Attribute> attrs;
  const auto index = [&]() -> mlir::ParseResult {
    attrs.push_back(FunctionIndexAttr::parse(parser, {}));
    return mlir::success(attrs.back() != nullptr);
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, index)) {
    return mlir::failure();
  }
  indices = parser.getBuilder().getArrayAttr(attrs);
  return mlir::success();
}
void printIndices(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr indices) {
  printer << "(";
  llvm::interleaveComma(indices, printer.getStream(), [&](mlir::Attribute index) {
    llvm::cast<FunctionIndexAttr>(index).print(printer);
  });
  printer << ")";
}
// What threads may share out of a function: `[<index = 0, dim = 0, step = 4>]`.
mlir::ParseResult parseSplits(mlir::OpAsmParser& parser, mlir::ArrayAttr& splits) {
  llvm::SmallVector<mlir::Attribute> attrs;
  const auto split = [&]() -> mlir::ParseResult {
    attrs.push_back(IndexSplitAttr::parse(parser, {}));
    return mlir::success(attrs.back() != nullptr);
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, split)) {
    return mlir::failure();
  }
  splits = parser.getBuilder().getArrayAttr(attrs);
  return mlir::success();
}
void printSplits(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr splits) {
  printer << "[";
  llvm::interleaveComma(splits, printer.getStream(), [&](mlir::Attribute split) {
    llvm::cast<IndexSplitAttr>(split).print(printer);
  });
  printer << "]";
}
// What a kernel reads: `(%0 [0:8, 0:4], %1 partial [0:4])`.
mlir::ParseResult parseReads(mlir::OpAsmParser& parser,
                             llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>& buffers,
                             mlir::ArrayAttr& reads) {
  llvm::SmallVector<mlir::Attribute> accesses;
  const auto read = [&]() -> mlir::ParseResult {
    if (parser.parseOperand(buffers.emplace_back())) return mlir::failure();
    accesses.push_back(AccessAttr::parse(parser, {}));
    return mlir::success(accesses.back() != nullptr);
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, read)) {
    return mlir::failure();
  }
  reads = parser.getBuilder().getArrayAttr(accesses);
  return mlir::success();
}
void printReads(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::OperandRange buffers,
                mlir::ArrayAttr reads) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(buffers, reads), printer.getStream(), [&](const auto& read) {
    printer << std::get<0>(read) << " ";
    llvm::cast<AccessAttr>(std::get<1>(read)).print(printer);
  });
  printer << ")";
}
}  // namespace yuba::compiler

// What mlir-tblgen generates is not written to our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
// clang-format off
#include "compiler/dump/yuba_dialect.cc.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dump/yuba_attrs.cc.inc"
#define GET_OP_CLASSES
#include "compiler/dump/yuba_ops.cc.inc"
// clang-format on
#pragma GCC diagnostic pop

namespace yuba::compiler {

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

}  // namespace yuba::compiler
