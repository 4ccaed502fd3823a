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
// What a kernel writes: `%2 [0:8]`, of several results `(%2 [0:8], %3 [0:8])`.
mlir::ParseResult parseWrites(mlir::OpAsmParser& parser,
                              llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>& buffers,
                              mlir::ArrayAttr& writes) {
  llvm::SmallVector<mlir::Attribute> boxes;
  const auto write = [&]() -> mlir::ParseResult {
    if (parser.parseOperand(buffers.emplace_back())) return mlir::failure();
    boxes.push_back(BoxAttr::parse(parser, {}));
    return mlir::success(boxes.back() != nullptr);
  };
  if (mlir::succeeded(parser.parseOptionalLParen())) {
    if (parser.parseCommaSeparatedList(write) || parser.parseRParen()) return mlir::failure();
  } else if (write()) {
    return mlir::failure();
  }
  writes = parser.getBuilder().getArrayAttr(boxes);
  return mlir::success();
}
void printWrites(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::OperandRange buffers,
                 mlir::ArrayAttr writes) {
  const bool one = writes.size() == 1;
  printer << (one ? "" : "(");
  llvm::interleaveComma(llvm::zip(buffers, writes), printer.getStream(), [&](const auto& write) {
    printer << std::get<0>(write) << " ";
    llvm::cast<BoxAttr>(std::get<1>(write)).print(printer);
  });
  printer << (one ? "" : ")");
}
// A list in brackets of attributes of one kind.
template <typename Attr>
mlir::ParseResult ParseList(mlir::OpAsmParser& parser, mlir::ArrayAttr& list) {
  llvm::SmallVector<mlir::Attribute> attrs;
  const auto element = [&]() -> mlir::ParseResult {
    attrs.push_back(Attr::parse(parser, {}));
    return mlir::success(attrs.back() != nullptr);
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, element)) {
    return mlir::failure();
  }
  list = parser.getBuilder().getArrayAttr(attrs);
  return mlir::success();
}
template <typename Attr>
void PrintList(mlir::OpAsmPrinter& printer, mlir::ArrayAttr list) {
  printer << "[";
  llvm::interleaveComma(list, printer.getStream(),
                        [&](mlir::Attribute element) { llvm::cast<Attr>(element).print(printer); });
  printer << "]";
}
// What threads may share out of a function: `[<index = 0, dim = 0, step = 4>]`.
mlir::ParseResult parseSplits(mlir::OpAsmParser& parser, mlir::ArrayAttr& splits) {
  return ParseList<IndexSplitAttr>(parser, splits);
}
void printSplits(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr splits) {
  PrintList<IndexSplitAttr>(printer, splits);
}
// What a kernel keeps to itself: `["m" [0:8] : memref<8xf32>]`.
mlir::ParseResult parseInternals(mlir::OpAsmParser& parser, mlir::ArrayAttr& internals) {
  return ParseList<InternalAttr>(parser, internals);
}
void printInternals(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr internals) {
  PrintList<InternalAttr>(printer, internals);
}
// The definitions of a cluster, in brackets.
mlir::ParseResult parseDefinitions(mlir::OpAsmParser& parser, mlir::ArrayAttr& definitions) {
  return ParseList<FunctionDefinitionAttr>(parser, definitions);
}
void printDefinitions(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr definitions) {
  PrintList<FunctionDefinitionAttr>(printer, definitions);
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
