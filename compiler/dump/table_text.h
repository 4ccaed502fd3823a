// Tables of a program as text: "[ab(0 8 16 24):ab(8 16 24 32), 0:64]" is a box whose first
// dimension has a table over the mesh axes a and b for its begin and one for its end (device 1 has
// [8, 16)), and whose second is [0, 64) on all devices.
#ifndef YUBA_COMPILER_DUMP_TABLE_TEXT_H_
#define YUBA_COMPILER_DUMP_TABLE_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/sharding/mesh_text.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

std::string BoundText(const Mesh& mesh, const program::Bound& bound);
std::string BoxText(const Mesh& mesh, const program::Box& box);

// The inverses. Errors are of the user (InvalidArgument) and say what was expected where.
// That a table fits the mesh is for IsWellFormed (spmd/tables.h).
absl::StatusOr<program::Bound> ParseBound(const Mesh& mesh, absl::string_view text);
absl::StatusOr<program::Box> ParseBox(const Mesh& mesh, absl::string_view text);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_TABLE_TEXT_H_
