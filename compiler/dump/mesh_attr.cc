#include "compiler/dump/mesh_attr.h"

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {

mlir::Attribute MeshAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<int64_t> sizes;
  int64_t devices = 1;
  llvm::StringRef name;
  while (true) {
    const llvm::SMLoc place = parser.getCurrentLocation();
    if (parser.parseOptionalKeyword(&name)) break;
    const mlir::StringAttr word = parser.getBuilder().getStringAttr(name);
    if (llvm::is_contained(names, word)) {
      parser.emitError(place, "the mesh has a second axis ") << name << ": give it another name";
      return {};
    }
    names.push_back(word);
    if (parser.parseEqual() || parser.parseInteger(sizes.emplace_back())) return {};
    if (sizes.back() < 1) {
      parser.emitError(place, "an axis needs a size of at least 1");
      return {};
    }
    if (__builtin_mul_overflow(devices, sizes.back(), &devices) ||
        devices > program::kMostDevices) {
      parser.emitError(place, "the mesh has too many devices");
      return {};
    }
  }
  return MeshAttr::get(parser.getContext(), names, sizes);
}

void MeshAttr::print(mlir::AsmPrinter& printer) const {
  for (size_t axis = 0; axis < getNames().size(); ++axis) {
    if (axis > 0) printer << " ";
    printer << getNames()[axis].getValue();
    printer << "=" << getSizes()[axis];
  }
}

mlir::Attribute AxesAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::SmallVector<mlir::StringAttr> words;
  llvm::StringRef word;
  if (!parser.parseOptionalKeyword(&word)) {
    words.push_back(parser.getBuilder().getStringAttr(word));
    while (!parser.parseOptionalPlus()) {
      if (parser.parseKeyword(&word)) return {};
      words.push_back(parser.getBuilder().getStringAttr(word));
    }
  }
  return AxesAttr::get(parser.getContext(), words);
}

void AxesAttr::print(mlir::AsmPrinter& printer) const { printer << ToString(*this); }

MeshAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh) {
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<int64_t> sizes;
  for (const MeshAxis& axis : mesh.axes) {
    names.push_back(mlir::StringAttr::get(context, axis.name));
    sizes.push_back(axis.size);
  }
  return MeshAttr::get(context, names, sizes);
}

Mesh MeshFrom(MeshAttr mesh) {
  Mesh result;
  if (!mesh) return result;
  for (size_t axis = 0; axis < mesh.getNames().size(); ++axis) {
    result.axes.push_back({mesh.getNames()[axis].str(), static_cast<int>(mesh.getSizes()[axis])});
  }
  return result;
}

AxesAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const AxisList& axes) {
  llvm::SmallVector<mlir::StringAttr> words;
  for (absl::string_view word : absl::StrSplit(AxesText(mesh, axes), '+', absl::SkipEmpty())) {
    words.push_back(mlir::StringAttr::get(context, llvm::StringRef(word.data(), word.size())));
  }
  return AxesAttr::get(context, words);
}

absl::StatusOr<AxisList> AxesFrom(const Mesh& mesh, AxesAttr axes) {
  return ParseAxes(mesh, ToString(axes));
}

std::string ToString(AxesAttr axes) {
  return absl::StrJoin(axes.getWords(), "+", [](std::string* out, mlir::StringAttr word) {
    out->append(word.getValue().data(), word.size());
  });
}

}  // namespace yuba::compiler
