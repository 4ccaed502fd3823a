// ONNX's TensorProto, as the .pb files of ONNX test data have it.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/onnx_tensor.pb.h"
#include "opsemantics/values/tensor_file.h"

namespace yuba {
namespace {

using onnx_tensor::TensorProto;

struct OnnxType {
  ElementType type;
  int number;  // TensorProto.DataType
};
constexpr OnnxType kOnnxTypes[] = {
    {ElementType::kF32, 1},  {ElementType::kU8, 2},   {ElementType::kI8, 3},
    {ElementType::kI32, 6},  {ElementType::kI64, 7},  {ElementType::kBool, 9},
    {ElementType::kF16, 10}, {ElementType::kF64, 11}, {ElementType::kBF16, 16}};

template <typename Stored, typename Values>
std::string Pack(const Values& values) {
  std::string data;
  data.reserve(values.size() * sizeof(Stored));
  for (const auto& value : values) {
    const Stored stored = static_cast<Stored>(value);
    data.append(reinterpret_cast<const char*>(&stored), sizeof(stored));
  }
  return data;
}

// The data from the typed fields, where whoever wrote the file did not use raw_data.
std::string TypedData(const TensorProto& proto, ElementType type) {
  switch (type) {
    case ElementType::kF32: return Pack<float>(proto.float_data());
    case ElementType::kF64: return Pack<double>(proto.double_data());
    case ElementType::kI64: return Pack<int64_t>(proto.int64_data());
    case ElementType::kI32: return Pack<int32_t>(proto.int32_data());
    case ElementType::kF16:
    case ElementType::kBF16: return Pack<uint16_t>(proto.int32_data());
    default: return Pack<uint8_t>(proto.int32_data());
  }
}

}  // namespace

absl::StatusOr<HostTensor> ParseTensorProto(absl::string_view bytes) {
  TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return UserError("this is no ONNX tensor: its protobuf cannot be read");
  }
  HostTensor tensor;
  bool known = false;
  for (const OnnxType& row : kOnnxTypes) {
    if (row.number != proto.data_type()) continue;
    tensor.type = row.type;
    known = true;
  }
  if (!known)
    return UserError("ONNX's element type ", proto.data_type(), " is not one that Yuba reads");
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(tensor.shape));
  tensor.data = proto.has_raw_data() ? proto.raw_data() : TypedData(proto, tensor.type);
  const int64_t expected = elements * ByteSize(tensor.type);
  if (static_cast<int64_t>(tensor.data.size()) != expected) {
    return UserError("the tensor has ", tensor.data.size(), " bytes of data, its shape needs ",
                     expected);
  }
  return tensor;
}

std::string FormatTensorProto(const std::string& name, const HostTensor& tensor) {
  TensorProto proto;
  proto.set_name(name);
  for (const OnnxType& row : kOnnxTypes) {
    if (row.type == tensor.type) proto.set_data_type(row.number);
  }
  for (int64_t extent : tensor.shape) proto.add_dims(extent);
  proto.set_raw_data(tensor.data);
  return proto.SerializeAsString();
}

}  // namespace yuba
