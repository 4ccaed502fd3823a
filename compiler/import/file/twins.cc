#include "compiler/import/file/twins.h"

namespace yuba::onnx {

Twins TwinsOf(const TensorData& a, const TensorData& b) {
  if (a.type != b.type) return Twins::kNot;
  if (a.dims == b.dims && a.data == b.data) return Twins::kEqual;
  const bool shapes =
      a.dims.size() == 2 && b.dims == std::vector<int64_t>(a.dims.rbegin(), a.dims.rend());
  return shapes && Transposed(a).data == b.data ? Twins::kTransposed : Twins::kNot;
}

}  // namespace yuba::onnx
