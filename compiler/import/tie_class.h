// What gives way where factors clash.
#ifndef YUBA_COMPILER_IMPORT_TIE_CLASS_H_
#define YUBA_COMPILER_IMPORT_TIE_CLASS_H_

#include <cstdint>

namespace yuba::onnx {

// How strongly a use holds on to its tensors' factors (unify.h): what gives way last comes first.
enum class TieClass : uint8_t { kOperator, kReshape, kConcat };

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TIE_CLASS_H_
