// Scales of a product's results become part of its parameter: what never changes is then computed
// once, by the entry `init` (invariants.h).
//
// Example: batch norm behind a convolution, c[n, o, p] = sum(..) x[..] * f[o, ..] and
// y[n, o, p] = (c[n, o, p] - m[o]) * s[o] + b[o] with parameters f, m, s and b, become
// g[o, ..] = f[o, ..] * s[o], k[o] = b[o] - m[o] * s[o], c[n, o, p] = sum(..) x[..] * g[o, ..] and
// y[n, o, p] = c[n, o, p] + k[o].
#ifndef YUBA_COMPILER_SIMPLIFY_FOLD_SCALES_H_
#define YUBA_COMPILER_SIMPLIFY_FOLD_SCALES_H_

#include "compiler/model.h"

namespace yuba::compiler {

// To be called before MoveInvariantsToInit, which moves the new nodes. Changed are
// - sums of products of which one factor is a parameter or constant of f32 or f64 that no node
//   writes, whose results one map alone reads,
// - where the map reads them in one term alone, times a term that never changes and depends only on
//   indices that the parameter has too. So a step that trains the parameter keeps both.
// Results differ by what sums and products in another order are rounded to.
void FoldScales(Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_FOLD_SCALES_H_
