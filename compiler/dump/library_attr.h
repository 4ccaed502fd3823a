// The call of a library as an attribute. A matrix product whose index 2 is summed:
//   (left = 0, right = 1, rows = [<index = 0, left = 0, result = 0>],
//    columns = [<index = 1, right = 1, result = 1>], inner = [<index = 2, left = 1, right = 0>])
// The words are those of LibraryCall in program.proto; a dimension that a tensor has not (-1) and a
// list that is empty are left out. Attributes belong to their context.
#ifndef YUBA_COMPILER_DUMP_LIBRARY_ATTR_H_
#define YUBA_COMPILER_DUMP_LIBRARY_ATTR_H_

#include "compiler/dump/dialect.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

LibraryAttr AttrOf(mlir::MLIRContext* context, const program::LibraryCall& call);
program::LibraryCall LibraryFrom(LibraryAttr library);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_LIBRARY_ATTR_H_
