// Which stored values may be trained at all.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_FLOAT_TENSOR_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_FLOAT_TENSOR_H_

#include "onnx/onnx.pb.h"
#include "opsemantics/values/onnx_tensor.h"

namespace yuba::onnx {

// Whether the tensor's elements are of a float type that is read (f16, bf16, f32, f64).
inline bool HoldsFloats(const ::onnx::TensorProto& tensor) {
  const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(tensor.data_type());
  return type.ok() && IsFloat(*type);
}

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_FLOAT_TENSOR_H_
