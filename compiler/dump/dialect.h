// The MLIR dialect `yuba`; yuba.td says what its operations are.
#ifndef YUBA_COMPILER_DUMP_DIALECT_H_
#define YUBA_COMPILER_DUMP_DIALECT_H_

#include "absl/status/statusor.h"
#include "compiler/dump/yuba_dialect.h.inc"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "opsemantics/definition/definition.h"

#define GET_OP_CLASSES
#include "compiler/dump/yuba_ops.h.inc"

namespace yuba::dialect {

// The definition that the operation says, with the types of its operands and its result.
absl::StatusOr<Definition> DefinitionOf(DefinitionOp op);

}  // namespace yuba::dialect

#endif  // YUBA_COMPILER_DUMP_DIALECT_H_
