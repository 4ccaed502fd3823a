// Tensors in files: NumPy's .npy, ONNX's TensorProto (.pb) and safetensors. Parse functions take
// the bytes of a file, Format functions return them, Read functions take a path. Readers accept any
// bytes and answer with a tensor or with a user's error that says the cause; Read functions also
// name the file. They read the whole file into memory, except for safetensors, whose tensors stay
// in the file.
#ifndef YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_
#define YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba {

// Little-endian arrays in C order; other arrays are a user's error.
absl::StatusOr<TensorData> ParseNpy(absl::string_view bytes);
std::string FormatNpy(const TensorData& tensor);  // bf16, which NumPy lacks, as f32
// The array of a .npy file, which stays there: reads the header alone. Also an error where the file
// has more or fewer bytes than its header says.
absl::StatusOr<StoredTensor> ReadNpyHeader(const std::string& path);

absl::StatusOr<TensorData> ParseTensorProto(absl::string_view bytes);
std::string FormatTensorProto(const std::string& name, const TensorData& tensor);

// What else the header of a file of safetensors says (`__metadata__`): texts by name.
using SafetensorsMetadata = std::map<std::string, std::string>;
// What a file of safetensors has, by the names of its tensors.
struct SafetensorsFile {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> unread;  // tensors of types that are not read: "F8_E4M3"
  SafetensorsMetadata metadata;
};
// From the file's header, which is JSON. `data` are the bytes behind the header: ranges of the
// tensors lie within.
absl::StatusOr<SafetensorsFile> ParseSafetensorsHeader(absl::string_view header,
                                                       const FileRange& data);

// The format is told by the file's ending, .npy or .pb.
absl::StatusOr<TensorData> ReadTensorFile(const std::string& path);
// Reads the header alone.
absl::StatusOr<SafetensorsFile> ReadSafetensors(const std::string& path);

// A tensor of a file that is written; `value` is asked for when its turn comes, so that one tensor
// at a time is in memory. It must give an element type and dimensions as said here.
struct TensorToWrite {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  std::function<absl::StatusOr<TensorData>()> value;
};
// Writes the file whole or not at all (WriteFile of base/files.h).
absl::Status WriteSafetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                              const SafetensorsMetadata& metadata = {});

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_TENSOR_FILE_H_
