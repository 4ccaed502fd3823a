// Value tables as sets of points: what is known of a condition that reads constants. A part of a
// definition has the points of a table at which the table's indices are in the part's ranges.
//
// Example: a roll by two is y[i] = pick(r: 8 where r == t[i]) x[r] with t = 6, 7, 0, 1, 2, 3, 4, 5.
// The part i in [4, 8) meets the values 2 to 5, so it reads [2, 6) of x; of the part r in [0, 2)
// only i in [2, 4) has a term.
#ifndef YUBA_OPSEMANTICS_REGIONS_VALUE_TABLES_H_
#define YUBA_OPSEMANTICS_REGIONS_VALUE_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// The value at a point ([index] of the definition).
int64_t ValueAt(const ValueTable& table, const std::vector<int64_t>& point);

// The least and the greatest value over `ranges` ([index]), as a half-open interval; empty where
// the range of an index of the table is.
Interval ValuesOver(const ValueTable& table, const std::vector<Interval>& ranges);

// Shrinks the ranges of the table's indices to the bounding box of the points at which the value is
// in `allowed`. False where there is none; `ranges` is then as before. None may be empty.
bool KeepAllowed(const ValueTable& table, const Interval& allowed, std::vector<Interval>& ranges);

// The conditions on data of which a table is known, as constraints.
std::vector<Constraint> KnownConditions(const Definition& definition);

// The indices that a constraint names, its table's among them; some may stand twice.
std::vector<int> IndicesIn(const Constraint& constraint);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_VALUE_TABLES_H_
