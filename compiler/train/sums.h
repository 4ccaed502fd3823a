// Tensors added up, element by element.
#ifndef YUBA_COMPILER_TRAIN_SUMS_H_
#define YUBA_COMPILER_TRAIN_SUMS_H_

#include "opsemantics/definition/definition.h"

namespace yuba::compiler {

// The sum of `count` operands of the type, at least one. Example: of two f32[4],
//   sum[i] = y0[i] + y1[i]
Definition SumOf(const TensorType& type, int count);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_SUMS_H_
