// The MLIR dialect `yuba`, the text of every phase; yuba.td says what its operations are. There is
// one generic operation for all operators, `yuba.op`, whose meaning is its definition attribute: a
// new operator needs nothing here. This header brings in the generated classes (GraphOp,
// DefinitionOp, KernelOp, ...). The operations' verifiers are in op_checks.cc.
#ifndef YUBA_COMPILER_DUMP_DIALECT_H_
#define YUBA_COMPILER_DUMP_DIALECT_H_

#include "absl/status/statusor.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

enum class PortKind { kInput, kOutput, kParameter };  // of a program

}  // namespace yuba::compiler

// What TableGen makes of yuba.td; it includes nothing itself, and is not written to our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
// clang-format off
#include "compiler/dump/yuba_dialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dump/yuba_attrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/dump/yuba_ops.h.inc"
// clang-format on
#pragma GCC diagnostic pop

namespace yuba::compiler {

// The definition that the operation states, with the types of its operands and its result. An error
// where the attribute is none; it is not checked further (definition_check.h).
absl::StatusOr<Definition> DefinitionOf(DefinitionOp op);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_DIALECT_H_
