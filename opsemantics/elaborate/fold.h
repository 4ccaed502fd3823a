// Arithmetic on numbers that are known when a description is elaborated.
#ifndef YUBA_OPSEMANTICS_ELABORATE_FOLD_H_
#define YUBA_OPSEMANTICS_ELABORATE_FOLD_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/term.h"

namespace yuba {

// All of `args` are static. Integers stay integers where the result is one and fits; an overflow
// and a division by 0 are errors.
absl::StatusOr<Term> Fold(Function function, const std::vector<Term>& args, Division division);

int64_t IntegerLimit(ElementType type, bool greatest);  // `type` is an integer

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_FOLD_H_
