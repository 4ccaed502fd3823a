// ONNX's TensorProto as a tensor, whichever protobuf class holds it: ONNX's own in the compiler,
// the few fields of onnx_tensor.proto where ONNX's library is not there.
#ifndef YUBA_OPSEMANTICS_VALUES_ONNX_TENSOR_H_
#define YUBA_OPSEMANTICS_VALUES_ONNX_TENSOR_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba {

// From the numbers of onnx.TensorProto.DataType (1 is FLOAT); a user's error for types that there
// are none for here.
absl::StatusOr<ElementType> ElementTypeFromOnnx(int64_t data_type);
int OnnxNumberOf(ElementType type);

// The bytes of `values`, each narrowed to T: typed fields hold small types in wider ones.
template <typename T, typename Field>
std::string Narrowed(const Field& values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(T));
  for (const auto& value : values) {
    const T narrow = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof(T));
  }
  return bytes;
}

// The data of a tensor whose writer did not use raw_data: ONNX has a field for each wide type.
template <typename Proto>
std::string TypedField(const Proto& tensor, ElementType type) {
  switch (type) {
    case ElementType::kF64: return Narrowed<double>(tensor.double_data());
    case ElementType::kF32: return Narrowed<float>(tensor.float_data());
    case ElementType::kF16:
    case ElementType::kBF16: return Narrowed<uint16_t>(tensor.int32_data());
    case ElementType::kI64: return Narrowed<int64_t>(tensor.int64_data());
    case ElementType::kI32: return Narrowed<int32_t>(tensor.int32_data());
    case ElementType::kI8: return Narrowed<int8_t>(tensor.int32_data());
    case ElementType::kU8: return Narrowed<uint8_t>(tensor.int32_data());
    case ElementType::kBool: return Narrowed<bool>(tensor.int32_data());
    case ElementType::kI16: return Narrowed<int16_t>(tensor.int32_data());
    case ElementType::kU16: return Narrowed<uint16_t>(tensor.int32_data());
    case ElementType::kU32: return Narrowed<uint32_t>(tensor.uint64_data());
    case ElementType::kU64: return Narrowed<uint64_t>(tensor.uint64_data());
  }
  return "";
}

// The tensor, whose data is within the message; a user's error where its type is not ours or its
// data has another size than type and dimensions say.
template <typename Proto>
absl::StatusOr<TensorData> DecodeTensor(const Proto& tensor) {
  YUBA_ASSIGN_OR_RETURN(const ElementType type, ElementTypeFromOnnx(tensor.data_type()));
  return TensorOf(type, {tensor.dims().begin(), tensor.dims().end()},
                  tensor.has_raw_data() ? tensor.raw_data() : TypedField(tensor, type));
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_ONNX_TENSOR_H_
