// How strongly a use of a description holds on to the factors of its tensors, for where the factors
// of two uses clash (factors/unify.h). A header of its own, because templates set it and factors/
// reads it.
#ifndef YUBA_COMPILER_IMPORT_TIE_CLASS_H_
#define YUBA_COMPILER_IMPORT_TIE_CLASS_H_

#include <cstdint>

namespace yuba::onnx {

// The class that gives way last comes first: an operator keeps its factors where a reshape cannot,
// and a reshape where a concat cannot.
enum class TieClass : uint8_t { kOperator, kReshape, kConcat };

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TIE_CLASS_H_
