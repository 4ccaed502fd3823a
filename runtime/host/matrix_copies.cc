#include "runtime/host/matrix_copies.h"

#include <utility>

#include "runtime/host/small_floats.h"

namespace yuba::runtime {

void CopyIn(ElementType type, const char* from, const MatrixLayout& layout, int64_t rows,
            int64_t columns, float* to) {
  const int64_t size = ByteSize(type);
  int64_t outer = rows, inner = columns;
  int64_t outer_step = layout.row_step * size, inner_step = layout.column_step * size;
  if (layout.transposed) {
    std::swap(outer, inner);
    std::swap(outer_step, inner_step);
  }
  for (int64_t o = 0; o < outer; ++o) {
    const char* const run = from + o * outer_step;
    if (inner_step == size || inner == 1) {
      ToFloats(type, run, inner, to + o * inner);
      continue;
    }
    for (int64_t i = 0; i < inner; ++i) {
      ToFloats(type, run + i * inner_step, 1, to + o * inner + i);
    }
  }
}

void CopyOut(ElementType type, const float* from, const MatrixLayout& layout, int64_t rows,
             int64_t columns, char* to) {
  const int64_t size = ByteSize(type);
  for (int64_t r = 0; r < rows; ++r) {
    char* const run = to + r * layout.row_step * size;
    if (layout.column_step == 1 || columns == 1) {
      FromFloats(type, from + r * columns, columns, run);
      continue;
    }
    for (int64_t c = 0; c < columns; ++c) {
      FromFloats(type, from + r * columns + c, 1, run + c * layout.column_step * size);
    }
  }
}

}  // namespace yuba::runtime
