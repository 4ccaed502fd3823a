// The head of a plan file is read: what was planned, in which space, on which mesh.
#ifndef YUBA_SEARCH_FILE_PLAN_FILE_HEAD_H_
#define YUBA_SEARCH_FILE_PLAN_FILE_HEAD_H_

#include "absl/types/optional.h"
#include "opsemantics/base/json_reader.h"
#include "search/file/plan_file.h"

namespace yuba::search {

// Fills graph, library, version, options, search, stopped, space and mesh. What is wrong with them
// is the error of `root`.
void ReadHead(const JsonReader& root, PlanFile* file);

// Names of mesh axes as their places in the mesh.
AxisList ReadAxes(const JsonReader& reader, const Mesh& mesh);

// A choice that is a word (search/plan/words.h).
template <typename Enum>
Enum ReadWord(const JsonReader& reader) {
  const absl::optional<Enum> value = FromWord<Enum>(reader.String());
  if (!value.has_value()) reader.Fail(OneOf<Enum>());
  return value.value_or(Enum());
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_PLAN_FILE_HEAD_H_
