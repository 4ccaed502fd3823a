// Which stored values are one parameter.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_DECLARED_TIES_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_DECLARED_TIES_H_

#include <vector>

#include "compiler/import/file/file_graph.h"
#include "compiler/import/options.h"
#include "compiler/import/parameters/stored_roles.h"

namespace yuba::onnx {

// Those that the file declares to be one parameter in two forms, and those of `given`, which are
// --tie, that the file has not made one already; all under the file's own names.
//
// Example: --tie head.weight=emb.weight, where the file stores head.weight transposed as val_7, is
// {val_7, emb.weight}.
std::vector<TieOptions> TiesOf(const StoredRoles& roles, const std::vector<TieOptions>& given,
                               const FileGraph& order);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_DECLARED_TIES_H_
