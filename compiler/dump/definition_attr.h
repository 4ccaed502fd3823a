// Definitions and tensor types as MLIR attributes and types, and back. Affine expressions become
// affine maps, constraints dictionaries, bodies nested dictionaries. The functions
// named ...From read text that people may have changed: they check the kind and count of each
// attribute and return InvalidArgument, which names the wrong one. Whether the definition makes
// sense is for definition_check.h to say. Attributes belong to the context.
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

// A definition without the types of its operands and its result, which the operation has.
mlir::DictionaryAttr AttrOf(mlir::MLIRContext* context, const Definition& definition);
absl::StatusOr<Definition> DefinitionFrom(mlir::DictionaryAttr attr);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_DEFINITION_ATTR_H_
