// Definitions and tensor types as MLIR attributes and types, and back. Affine expressions become
// affine maps, constraints dictionaries, bodies nested dictionaries. What the functions named
// ...From return comes from text that people may have written: they check every kind and count, and
// return errors of the user (InvalidArgument) that name what is wrong; whether the definition makes
// sense is definition_check.h. Attributes belong to the context.
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
