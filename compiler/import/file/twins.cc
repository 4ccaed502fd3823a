#include "compiler/import/file/twins.h"

#include <algorithm>

#include "opsemantics/base/check.h"

namespace yuba::onnx {

Twins TwinsOf(const TensorData& a, const TensorData& b) {
  if (a.type != b.type) return Twins::kNot;
  if (a.dims == b.dims && a.data == b.data) return Twins::kEqual;
  const bool shapes =
      a.dims.size() == 2 && b.dims == std::vector<int64_t>(a.dims.rbegin(), a.dims.rend());
  return shapes && Transposed(a).data == b.data ? Twins::kTransposed : Twins::kNot;
}

TensorData Transposed(const TensorData& matrix) {
  YUBA_CHECK(matrix.dims.size() == 2);
  const auto rows = static_cast<size_t>(matrix.dims[0]),
             columns = static_cast<size_t>(matrix.dims[1]);
  const auto bytes = static_cast<size_t>(ByteSize(matrix.type));
  TensorData transposed{matrix.type, {matrix.dims[1], matrix.dims[0]}, ""};
  transposed.data.resize(matrix.data.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      std::copy_n(&matrix.data[(row * columns + column) * bytes], bytes,
                  &transposed.data[(column * rows + row) * bytes]);
    }
  }
  return transposed;
}

}  // namespace yuba::onnx
