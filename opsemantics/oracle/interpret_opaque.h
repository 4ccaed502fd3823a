// The part of the interpreter that opaque definitions need: one call of their function for each
// point of the indices that may be cut.
#ifndef YUBA_OPSEMANTICS_ORACLE_INTERPRET_OPAQUE_H_
#define YUBA_OPSEMANTICS_ORACLE_INTERPRET_OPAQUE_H_

#include <vector>

#include "opsemantics/oracle/interpret.h"

namespace yuba {

// Interpret for an opaque definition. Ranges of indices that may not be cut are whole (CHECK). The
// function gets floats as f64 or hashes and integers as i64, whatever their types; results are
// rounded to theirs.
void InterpretOpaque(const Definition& definition, const std::vector<Interval>& ranges,
                     const std::vector<const TensorValue*>& operands, Arithmetic arithmetic,
                     TensorValue& result, const ReadLog& log);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ORACLE_INTERPRET_OPAQUE_H_
