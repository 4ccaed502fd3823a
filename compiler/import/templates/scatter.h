// Templates of what gathers from and scatters to places that integers name: their texts have a
// condition for each dimension that is looked up.
//
// Example: GatherNdTemplate({5, 4, 3}, {7, 2}, 0) takes a row of 3 elements for each of 7 pairs:
//   y[q0, c0] = pick(r0: 5, r1: 4 where r0 == wrap(ids[q0, 0], 5), r1 == wrap(ids[q0, 1], 4))
//     x[r0, r1, c0]
#ifndef YUBA_COMPILER_IMPORT_TEMPLATES_SCATTER_H_
#define YUBA_COMPILER_IMPORT_TEMPLATES_SCATTER_H_

#include "compiler/import/templates/templates.h"
#include "opsemantics/base/element_type.h"

namespace yuba::onnx {

// Slices of `data`: the last dimension of `indices` holds positions along the dimensions of `data`
// behind the first `batch`, which both have. It is at most as long as there are such dimensions.
OpTemplate GatherNdTemplate(const Dims& data, const Dims& indices, int batch);

// What becomes of an element and of all updates that go to it. kNone: the last of them in row-major
// order counts, so that the result is one whatever the plan; none of their gradients but the last
// one's is other than 0. The gradients of the others are as PyTorch's scatter_reduce has them: that
// of equal maxima is shared out evenly, the element's own value among them.
enum class ScatterReduction { kNone, kAdd, kMul, kMax, kMin };

// Updates [indices without its last dimension, data behind the dimensions that are looked up] go to
// the places that the last dimension of `indices` names, as for GatherNdTemplate. `type` is that of
// data and updates; a bool has no reduction.
OpTemplate ScatterNdTemplate(const Dims& data, const Dims& indices, ScatterReduction reduction,
                             ElementType type);

// Updates [indices] go to their own places, but for dimension `axis`, where `indices` says. No
// other dimension of `indices` is longer than that of `data`.
OpTemplate ScatterElementsTemplate(const Dims& data, const Dims& indices, int axis,
                                   ScatterReduction reduction, ElementType type);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TEMPLATES_SCATTER_H_
