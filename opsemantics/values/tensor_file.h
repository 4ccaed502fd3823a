// Tensors in files: NumPy's .npy, ONNX's TensorProto (.pb) and safetensors. Readers accept any
// bytes and answer with a tensor or with an error that names file and cause.
#ifndef YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_
#define YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/element_type.h"

namespace yuba {

// A whole tensor: row-major, little-endian, ByteSize(type) a element.
struct HostTensor {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::string data;
};

// The number of elements, or an error where dimensions are negative or too many.
absl::StatusOr<int64_t> ElementsOf(const std::vector<int64_t>& shape);

absl::StatusOr<HostTensor> ParseNpy(absl::string_view bytes);
std::string FormatNpy(const HostTensor& tensor);  // bf16, which NumPy lacks, as f32

absl::StatusOr<HostTensor> ParseTensorProto(absl::string_view bytes);
std::string FormatTensorProto(const std::string& name, const HostTensor& tensor);

absl::StatusOr<std::map<std::string, HostTensor>> ParseSafetensors(absl::string_view bytes);

// By the file's ending: .npy or .pb.
absl::StatusOr<HostTensor> ReadTensorFile(const std::string& path);
absl::StatusOr<std::map<std::string, HostTensor>> ReadSafetensors(const std::string& path);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_
