// ONNX's TensorProto, as the .pb files of ONNX test data have it.
#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/onnx_tensor.h"
#include "opsemantics/values/onnx_tensor.pb.h"
#include "opsemantics/values/tensor_file.h"

namespace yuba {
namespace {

struct OnnxType {
  ElementType type;
  int number;  // TensorProto.DataType
};
constexpr OnnxType kOnnxTypes[] = {
    {ElementType::kF32, 1},  {ElementType::kU8, 2},   {ElementType::kI8, 3},
    {ElementType::kI32, 6},  {ElementType::kI64, 7},  {ElementType::kBool, 9},
    {ElementType::kF16, 10}, {ElementType::kF64, 11}, {ElementType::kBF16, 16},
    {ElementType::kU16, 4},  {ElementType::kI16, 5},  {ElementType::kU32, 12},
    {ElementType::kU64, 13}};

// The names of numbers, from 0, for messages.
constexpr const char* kOnnxNames[] = {
    "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",       "UINT16",   "INT16",
    "INT32",          "INT64",      "STRING",         "BOOL",       "FLOAT16",  "DOUBLE",
    "UINT32",         "UINT64",     "COMPLEX64",      "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",      "INT4",     "FLOAT4E2M1"};

}  // namespace

absl::StatusOr<ElementType> ElementTypeFromOnnx(int64_t data_type) {
  for (const OnnxType& row : kOnnxTypes) {
    if (row.number == data_type) return row.type;
  }
  const bool named = data_type >= 0 && data_type < static_cast<int64_t>(std::size(kOnnxNames));
  return UserError("element type ",
                   named ? kOnnxNames[data_type] : absl::StrCat("number ", data_type),
                   " is not supported (", NamesOfTypes(), " are)");
}

int OnnxNumberOf(ElementType type) {
  for (const OnnxType& row : kOnnxTypes) {
    if (row.type == type) return row.number;
  }
  YUBA_CHECK(false) << Name(type);
  return 0;
}

absl::StatusOr<TensorData> ParseTensorProto(absl::string_view bytes) {
  onnx_tensor::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return UserError("this is no ONNX tensor: its protobuf cannot be read");
  }
  return DecodeTensor(proto);
}

std::string FormatTensorProto(const std::string& name, const TensorData& tensor) {
  onnx_tensor::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(OnnxNumberOf(tensor.type));
  for (int64_t dim : tensor.dims) proto.add_dims(dim);
  proto.set_raw_data(tensor.data);
  return proto.SerializeAsString();
}

}  // namespace yuba
