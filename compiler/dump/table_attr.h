// Tables of a program as attributes. `[ab(0 8 16 24):ab(8 16 24 32), 0:64]` is a box whose first
// dimension has a table over the mesh axes a and b for its begin and one for its end (device 1 has
// [8, 16)), and whose second is [0, 64) on all devices. The tables are BoundAttr, the box is
// BoxAttr; `partial [0:64]` is an AccessAttr: the box of an operand that is unreduced.
//
// The functions named ...From find the axes in a mesh. An axis that the mesh has not, or a table
// that has not one number for each place of its axes, is an error of the user (InvalidArgument).
// Attributes belong to their context.
#ifndef YUBA_COMPILER_DUMP_TABLE_ATTR_H_
#define YUBA_COMPILER_DUMP_TABLE_ATTR_H_

#include "absl/status/statusor.h"
#include "compiler/dump/mesh_attr.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

BoundAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const program::Bound& bound);
absl::StatusOr<program::Bound> BoundFrom(const Mesh& mesh, BoundAttr bound);

BoxAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const program::Box& box);
absl::StatusOr<program::Box> BoxFrom(const Mesh& mesh, BoxAttr box);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_TABLE_ATTR_H_
