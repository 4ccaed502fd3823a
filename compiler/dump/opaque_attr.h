// How a function calls an opaque one, as an attribute:
//   {arguments = [{indices = array<i32: 0, 2>, operand = 0 : i32}], attributes = array<f64: 1.0>,
//    name = "argsort", result = array<i32: 0, 1>}
#ifndef YUBA_COMPILER_DUMP_OPAQUE_ATTR_H_
#define YUBA_COMPILER_DUMP_OPAQUE_ATTR_H_

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

mlir::DictionaryAttr AttrOf(mlir::MLIRContext* context, const program::OpaqueCalls& calls);
// A user's error where a field is missing or of another kind; names and numbers are not checked.
absl::StatusOr<program::OpaqueCalls> OpaqueFrom(mlir::DictionaryAttr attr);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_OPAQUE_ATTR_H_
