// Products in a narrower type, as automatic mixed precision has them: weights, their updates, sums
// and elementwise work stay in f32; matrix products and convolutions read and write bf16, and
// accumulate in f32.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j], all of f32, becomes
//   x.bf16[i, k] = cast(x[i, k])        w.bf16[k, j] = cast(w[k, j])
//   y.bf16[i, j] = sum(k) x.bf16[i, k] * w.bf16[k, j]
//   y[i, j] = cast(y.bf16[i, j])
// Gradients that are derived from these are products of bf16 too; that of w is a cast to f32.
#ifndef YUBA_COMPILER_TRAIN_PRECISION_H_
#define YUBA_COMPILER_TRAIN_PRECISION_H_

#include "compiler/model.h"

namespace yuba::compiler {

// Rewrites all sums of products of f32 so; `narrow` is a type of floats. The nodes stay ordered,
// and all tensors keep their names and types.
void ComputeProductsIn(ElementType narrow, Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_PRECISION_H_
