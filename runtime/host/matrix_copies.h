// Matrices copied between a buffer, in its element type and with its strides, and a dense f32
// matrix in a workspace, which is what dnnl_sgemm takes.
#ifndef YUBA_RUNTIME_HOST_MATRIX_COPIES_H_
#define YUBA_RUNTIME_HOST_MATRIX_COPIES_H_

#include <cstdint>

#include "opsemantics/base/element_type.h"
#include "runtime/contraction.h"

namespace yuba::runtime {

// Copies rows x columns elements of `type` that lie as `layout` says to `to`. The copy is
// row-major, or column-major where the layout is transposed; its leading dimension is
// CopiedLeading.
void CopyIn(ElementType type, const char* from, const MatrixLayout& layout, int64_t rows,
            int64_t columns, float* to);
inline int64_t CopiedLeading(const MatrixLayout& layout, int64_t rows, int64_t columns) {
  return layout.transposed ? rows : columns;
}

// Copies a dense row-major matrix to a buffer. `layout` is not transposed.
void CopyOut(ElementType type, const float* from, const MatrixLayout& layout, int64_t rows,
             int64_t columns, char* to);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_MATRIX_COPIES_H_
