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
#include "opsemantics/values/tensor_data.h"

namespace yuba {

// Little-endian arrays in C order; other arrays are a user's error.
absl::StatusOr<TensorData> ParseNpy(absl::string_view bytes);
std::string FormatNpy(const TensorData& tensor);  // bf16, which NumPy lacks, as f32

absl::StatusOr<TensorData> ParseTensorProto(absl::string_view bytes);
std::string FormatTensorProto(const std::string& name, const TensorData& tensor);

// All tensors of the file by name.
absl::StatusOr<std::map<std::string, TensorData>> ParseSafetensors(absl::string_view bytes);

// The format is told by the file's ending, .npy or .pb.
absl::StatusOr<TensorData> ReadTensorFile(const std::string& path);
absl::StatusOr<std::map<std::string, TensorData>> ReadSafetensors(const std::string& path);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_
