// Whether two stored matrices are one weight: equal element by element, or each the other's
// transpose.
#ifndef YUBA_COMPILER_IMPORT_FILE_TWINS_H_
#define YUBA_COMPILER_IMPORT_FILE_TWINS_H_
#include <string>

#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

enum class Twins { kNot, kEqual, kTransposed };

// Of [[1, 2], [3, 4]] and [[1, 3], [2, 4]]: kTransposed. Matrices that are both are kEqual. Tensors
// that are no matrices, rank 2, may only be kEqual.
Twins TwinsOf(const TensorData& a, const TensorData& b);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_TWINS_H_
