// The texts of the attributes of clusters: a tensor of a kernel, a definition, an internal tensor.
#include <string>

#include "compiler/dump/dialect.h"
#include "runtime/program/enums.h"

namespace yuba::compiler {

mlir::Attribute KernelTensorAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  using Tensor = program::KernelTensor;
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef word;
  int32_t number = 0;
  if (parser.parseKeyword(&word) || parser.parseInteger(number)) return {};
  const int kind = word == "operand"    ? Tensor::kOperand
                   : word == "result"   ? Tensor::kResult
                   : word == "internal" ? Tensor::kInternal
                                        : Tensor::KIND_NOT_SET;
  if (kind != Tensor::KIND_NOT_SET) return KernelTensorAttr::get(parser.getContext(), kind, number);
  parser.emitError(place, "one of operand, result, internal expected");
  return {};
}

void KernelTensorAttr::print(mlir::AsmPrinter& printer) const {
  const bool operand = getKind() == program::KernelTensor::kOperand;
  const bool result = getKind() == program::KernelTensor::kResult;
  printer << (operand ? "operand " : result ? "result " : "internal ") << getNumber();
}

mlir::Attribute FunctionDefinitionAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  std::string text;
  if (parser.parseString(&text)) return {};
  const auto reducer = llvm::dyn_cast_or_null<ReducerAttr>(ReducerAttr::parse(parser, {}));
  if (!reducer || parser.parseKeyword("over")) return {};
  llvm::SmallVector<int32_t> indices;
  const auto index = [&]() { return parser.parseInteger(indices.emplace_back()); };
  const auto list = mlir::AsmParser::Delimiter::Paren;
  if (parser.parseCommaSeparatedList(list, index) || parser.parseKeyword("reads")) return {};
  llvm::SmallVector<KernelTensorAttr> operands;
  const auto tensor = [&](KernelTensorAttr& read) -> mlir::ParseResult {
    read = llvm::dyn_cast_or_null<KernelTensorAttr>(KernelTensorAttr::parse(parser, {}));
    return mlir::success(read != nullptr);
  };
  const auto operand = [&]() { return tensor(operands.emplace_back()); };
  if (parser.parseCommaSeparatedList(list, operand) || parser.parseKeyword("to")) return {};
  KernelTensorAttr computes;
  if (tensor(computes)) return {};
  return FunctionDefinitionAttr::get(parser.getContext(), parser.getBuilder().getStringAttr(text),
                                     reducer.getValue(), indices, operands, computes);
}

void FunctionDefinitionAttr::print(mlir::AsmPrinter& printer) const {
  printer << getText() << " ";
  ReducerAttr::get(getContext(), getReducer()).print(printer);
  printer << " over (";
  llvm::interleaveComma(getIndices(), printer.getStream());
  printer << ") reads (";
  llvm::interleaveComma(getOperands(), printer.getStream(),
                        [&](KernelTensorAttr operand) { operand.print(printer); });
  printer << ") to ";
  getComputes().print(printer);
}

mlir::Attribute InternalAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  std::string name;
  if (parser.parseString(&name)) return {};
  const auto box = llvm::dyn_cast_or_null<BoxAttr>(BoxAttr::parse(parser, {}));
  mlir::Type type;
  if (!box || parser.parseColonType(type)) return {};
  return InternalAttr::get(parser.getContext(), parser.getBuilder().getStringAttr(name), box, type);
}

void InternalAttr::print(mlir::AsmPrinter& printer) const {
  printer << getName() << " ";
  getBox().print(printer);
  printer << " : " << getType();
}

}  // namespace yuba::compiler
