// The mesh of a dump and lists of its axes, as attributes: `a=2 b=2`, `ab`, `data+model.1`.
//
// A list of axes knows no mesh: it has the words by which a person names axes. AxesFrom finds them
// in a mesh; an error is of the user (InvalidArgument). Attributes belong to their context.
#ifndef YUBA_COMPILER_DUMP_MESH_ATTR_H_
#define YUBA_COMPILER_DUMP_MESH_ATTR_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/dump/dialect.h"
#include "opsemantics/sharding/mesh_text.h"

namespace yuba::compiler {

MeshAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh);
Mesh MeshFrom(MeshAttr mesh);  // no axes where `mesh` is null

AxesAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const AxisList& axes);
absl::StatusOr<AxisList> AxesFrom(const Mesh& mesh, AxesAttr axes);

std::string ToString(AxesAttr axes);  // "ab", "data+model.1", ""

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_MESH_ATTR_H_
