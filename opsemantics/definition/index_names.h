// Names of indices: plans, pins and messages say by its name which index of a definition is meant.
//
// Example: beside an index that a description calls q1, the one that a gradient needs for dimension
// 1 is q1_2.
#ifndef YUBA_OPSEMANTICS_DEFINITION_INDEX_NAMES_H_
#define YUBA_OPSEMANTICS_DEFINITION_INDEX_NAMES_H_

#include <cstdint>
#include <string>

#include "opsemantics/definition/definition.h"

namespace yuba {

// Adds an index behind all others and returns its position. It is called `name`, with a number
// behind it where the definition has an index of that name. So are all indices added to a
// definition that has indices which others have named.
int AddIndex(Definition& definition, const std::string& name, int64_t extent, bool reduction);

// Whether no two indices have one name, which CheckGraph demands.
bool HasDistinctIndices(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_INDEX_NAMES_H_
