// Tensors in files: NumPy's .npy, ONNX's TensorProto (.pb) and safetensors. Parse functions take
// the bytes of a file, Format functions return them, Read functions take a path. Readers accept any
// bytes and answer with a tensor or with a user's error that says the cause; Read functions also
// name the file. They read the whole file into memory.
#ifndef YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_
#define YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/element_type.h"

namespace yuba {

// A whole tensor.
struct HostTensor {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;  // extents, none below 0; empty: a scalar
  std::string data;            // row-major, little-endian, ByteSize(type) bytes an element
};

// The number of elements, or a user's error where an extent is negative or the number is above
// 2^48.
absl::StatusOr<int64_t> ElementsOf(const std::vector<int64_t>& shape);

// Little-endian arrays in C order; other arrays are a user's error.
absl::StatusOr<HostTensor> ParseNpy(absl::string_view bytes);
std::string FormatNpy(const HostTensor& tensor);  // bf16, which NumPy lacks, as f32

absl::StatusOr<HostTensor> ParseTensorProto(absl::string_view bytes);
std::string FormatTensorProto(const std::string& name, const HostTensor& tensor);

// All tensors of the file by name.
absl::StatusOr<std::map<std::string, HostTensor>> ParseSafetensors(absl::string_view bytes);

// The format is told by the file's ending, .npy or .pb.
absl::StatusOr<HostTensor> ReadTensorFile(const std::string& path);
absl::StatusOr<std::map<std::string, HostTensor>> ReadSafetensors(const std::string& path);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_
