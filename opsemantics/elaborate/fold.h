// Constant folding: functions of numbers that are known when a description is elaborated.
#ifndef YUBA_OPSEMANTICS_ELABORATE_FOLD_H_
#define YUBA_OPSEMANTICS_ELABORATE_FOLD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/term.h"

namespace yuba {

// `function` of `args`, which are all static (Term::IsStatic). Of integers, functions such as
// sums and products give an integer, and a quotient is one where it is whole or rounded down; other
// results are numbers. An overflow of 64 bits and a division by 0 are errors without a place.
absl::StatusOr<Term> Fold(Function function, const std::vector<Term>& args, Division division);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_FOLD_H_
