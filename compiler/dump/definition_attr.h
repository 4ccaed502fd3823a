// Definitions and tensor types as MLIR attributes and types, and back. Affine expressions become
// maps, constraints dictionaries, bodies nested dictionaries.
#ifndef YUBA_COMPILER_DUMP_DEFINITION_ATTR_H_
#define YUBA_COMPILER_DUMP_DEFINITION_ATTR_H_

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "opsemantics/definition/definition.h"

namespace yuba::compiler {

mlir::Type ElementTypeOf(mlir::MLIRContext* context, ElementType type);
absl::StatusOr<ElementType> ElementTypeFrom(mlir::Type type);

mlir::RankedTensorType TypeOf(mlir::MLIRContext* context, const TensorType& type);
absl::StatusOr<TensorType> TypeFrom(mlir::ShapedType type);

// Operand and result types are not in the attribute: the operation has them.
mlir::DictionaryAttr AttrOf(mlir::MLIRContext* context, const Definition& definition);
absl::StatusOr<Definition> DefinitionFrom(mlir::DictionaryAttr attr);

// Names to values and back.
absl::StatusOr<Reducer> ReducerFrom(absl::string_view name);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_DEFINITION_ATTR_H_
