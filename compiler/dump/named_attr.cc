// The text of an attribute outside of an operation's own syntax, with its name:
// #yuba.mesh<a=2 b=2>.
#include "compiler/dump/sharding_attr.h"

namespace yuba::compiler {
namespace {

// `<a=2 b=2>`
template <typename Attr>
mlir::Attribute Read(mlir::DialectAsmParser& parser) {
  if (parser.parseLess()) return {};
  const mlir::Attribute attr = Attr::parse(parser, {});
  return attr && !parser.parseGreater() ? attr : mlir::Attribute();
}

template <typename Attr>
bool Print(mlir::Attribute any, mlir::DialectAsmPrinter& printer) {
  const auto attr = llvm::dyn_cast<Attr>(any);
  if (!attr) return false;
  printer << Attr::getMnemonic() << "<";
  attr.print(printer);
  printer << ">";
  return true;
}

template <typename... Attrs>
struct AttrList {
  // Null where `word` names none of them, and after an error, which was reported.
  static mlir::Attribute Read(mlir::DialectAsmParser& parser, llvm::StringRef word, bool& known) {
    mlir::Attribute attr;
    known = ((word == Attrs::getMnemonic() && (attr = compiler::Read<Attrs>(parser), true)) || ...);
    return attr;
  }
  static bool Print(mlir::Attribute attr, mlir::DialectAsmPrinter& printer) {
    return (compiler::Print<Attrs>(attr, printer) || ...);
  }
};

// All whose text is made of MLIR's tokens; shardings and partitions are not.
using OfTokens =
    AttrList<MeshAttr, AxesAttr, BoundAttr, BoxAttr, AccessAttr, KindAttr, ReducerAttr,
             CollectiveAttr, FunctionIndexAttr, KernelTensorAttr, FunctionDefinitionAttr,
             InternalAttr, IndexSplitAttr, PortKindAttr, LibraryAttr>;

}  // namespace

mlir::Attribute YubaDialect::parseAttribute(mlir::DialectAsmParser& parser, mlir::Type) const {
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word)) return {};
  if (word == "sharding") return ReadSharding(parser);
  if (word == "partition") return ReadPartition(parser);
  bool known = false;
  const mlir::Attribute attr = OfTokens::Read(parser, word, known);
  if (!known) parser.emitError(place, "no attribute of yuba is called ") << word;
  return attr;
}

void YubaDialect::printAttribute(mlir::Attribute attr, mlir::DialectAsmPrinter& printer) const {
  if (OfTokens::Print(attr, printer)) return;
  if (const auto sharding = llvm::dyn_cast<ShardingAttr>(attr)) {
    printer << "sharding<" << ToString(sharding) << ">";
  } else if (const auto partition = llvm::dyn_cast<PartitionAttr>(attr)) {
    printer << "partition<" << ToString(partition) << ">";
  }
}

}  // namespace yuba::compiler
